-- The schemas, and who may do what in them: `@NAME@` stands for that user's password. One statement a line. Run by
-- `gatepost install`; in development by the server at every start, before anyone connects.
CREATE SCHEMA IF NOT EXISTS gatepost CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
CREATE SCHEMA IF NOT EXISTS gatepost_keys CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

-- The main server reads and writes rows, and keeps the partitions of the two partitioned tables.
CREATE USER IF NOT EXISTS gatepost_main@127.0.0.1 IDENTIFIED BY '@gatepost_main@';
ALTER USER gatepost_main@127.0.0.1 IDENTIFIED BY '@gatepost_main@';
GRANT SELECT, INSERT, UPDATE, DELETE ON gatepost.* TO gatepost_main@127.0.0.1;
GRANT SELECT, INSERT, UPDATE, DELETE ON gatepost_keys.* TO gatepost_main@127.0.0.1;
GRANT CREATE, ALTER, DROP ON gatepost.messages TO gatepost_main@127.0.0.1;
GRANT CREATE, ALTER, DROP ON gatepost.attempts TO gatepost_main@127.0.0.1;

-- The nightly pipeline: one user reads messages, one publishes. What they may do in which tables, `gatepost db grant`
-- says, once there are any.
CREATE USER IF NOT EXISTS gatepost_lake@127.0.0.1 IDENTIFIED BY '@gatepost_lake@';
ALTER USER gatepost_lake@127.0.0.1 IDENTIFIED BY '@gatepost_lake@';
CREATE USER IF NOT EXISTS gatepost_analytics@127.0.0.1 IDENTIFIED BY '@gatepost_analytics@';
ALTER USER gatepost_analytics@127.0.0.1 IDENTIFIED BY '@gatepost_analytics@';

-- Backups: one user reads, one tries them in a schema of its own.
CREATE USER IF NOT EXISTS gatepost_backup@127.0.0.1 IDENTIFIED BY '@gatepost_backup@';
ALTER USER gatepost_backup@127.0.0.1 IDENTIFIED BY '@gatepost_backup@';
CREATE USER IF NOT EXISTS gatepost_drill@127.0.0.1 IDENTIFIED BY '@gatepost_drill@';
ALTER USER gatepost_drill@127.0.0.1 IDENTIFIED BY '@gatepost_drill@';
GRANT ALL ON gatepost_drill.* TO gatepost_drill@127.0.0.1;

-- Retention takes away what is past its day. It sees who has a snapshot open, such as a backup; its other rights
-- `gatepost db grant` says as well.
CREATE USER IF NOT EXISTS gatepost_retention@127.0.0.1 IDENTIFIED BY '@gatepost_retention@';
ALTER USER gatepost_retention@127.0.0.1 IDENTIFIED BY '@gatepost_retention@';
GRANT PROCESS ON *.* TO gatepost_retention@127.0.0.1;

-- Migrations make and change the tables, and hand on the rights to them.
CREATE USER IF NOT EXISTS gatepost_migrate@127.0.0.1 IDENTIFIED BY '@gatepost_migrate@';
ALTER USER gatepost_migrate@127.0.0.1 IDENTIFIED BY '@gatepost_migrate@';
GRANT ALL ON gatepost.* TO gatepost_migrate@127.0.0.1 WITH GRANT OPTION;
GRANT ALL ON gatepost_keys.* TO gatepost_migrate@127.0.0.1 WITH GRANT OPTION;
