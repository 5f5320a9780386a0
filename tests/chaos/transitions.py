"""What became of each row, step by step: a trigger in the run's own MariaDB writes down every
change of a row's state, in the transaction that makes it, so that a doubled effect shows even where
the final state hides it. What changes no state (a body sealed again, one more attempt) is left out.
"""

from typing import Any

_CREATE = """
    CREATE TABLE IF NOT EXISTS chaos_transitions (
      n BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
      message_id BINARY(16) NOT NULL,
      old_status VARCHAR(16) NULL, new_status VARCHAR(16) NOT NULL,
      old_generation INT NULL, new_generation INT NOT NULL,
      old_attempts INT NULL, new_attempts INT NOT NULL,
      at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
    ) ENGINE=InnoDB
"""
_COLUMNS = (
    "(message_id, old_status, new_status, old_generation, new_generation, old_attempts,"
    " new_attempts)"
)
_ON_INSERT = f"""
    CREATE TRIGGER chaos_inserted AFTER INSERT ON messages FOR EACH ROW
      INSERT INTO chaos_transitions {_COLUMNS}
      VALUES (NEW.message_id, NULL, NEW.status, NULL, NEW.generation, NULL, NEW.attempt_count)
"""
_ON_UPDATE = f"""
    CREATE TRIGGER chaos_updated AFTER UPDATE ON messages FOR EACH ROW
      IF NOT (OLD.status = NEW.status AND OLD.delivered_at <=> NEW.delivered_at
              AND OLD.generation = NEW.generation AND OLD.attempt_count <= NEW.attempt_count)
      THEN
        INSERT INTO chaos_transitions {_COLUMNS}
        VALUES (NEW.message_id, OLD.status, NEW.status, OLD.generation, NEW.generation,
                OLD.attempt_count, NEW.attempt_count);
      END IF
"""


def watch_status(connection: Any) -> None:
    """By a connection of the database's driver, as root; the ledger's tables are there."""
    cursor = connection.cursor()
    for statement in (_CREATE, _ON_INSERT, _ON_UPDATE):
        cursor.execute(statement)
