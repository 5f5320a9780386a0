"""What became of each row, step by step: a trigger in the run's own MariaDB writes down every
change of status, so that a doubled effect shows even where the final state hides it.
"""

import pymysql
from pymysql.cursors import DictCursor

_STATEMENTS = (
    """
    CREATE TABLE chaos_transitions (
      n BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY,
      message_id BINARY(16) NOT NULL,
      old_status VARCHAR(16) NULL, new_status VARCHAR(16) NOT NULL,
      old_generation INT NULL, new_generation INT NOT NULL,
      old_attempts INT NULL, new_attempts INT NOT NULL,
      at DATETIME(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)
    ) ENGINE=InnoDB
    """,
    """
    CREATE TRIGGER chaos_inserted AFTER INSERT ON messages FOR EACH ROW
      INSERT INTO chaos_transitions
        (message_id, old_status, new_status, old_generation, new_generation, old_attempts,
         new_attempts)
      VALUES (NEW.message_id, NULL, NEW.status, NULL, NEW.generation, NULL, NEW.attempt_count)
    """,
    """
    CREATE TRIGGER chaos_updated AFTER UPDATE ON messages FOR EACH ROW
      INSERT INTO chaos_transitions
        (message_id, old_status, new_status, old_generation, new_generation, old_attempts,
         new_attempts)
      VALUES (NEW.message_id, OLD.status, NEW.status, OLD.generation, NEW.generation,
              OLD.attempt_count, NEW.attempt_count)
    """,
)


def watch_status(connection: "pymysql.Connection[DictCursor]") -> None:
    """By root. Each change is written in the transaction that makes it."""
    for statement in _STATEMENTS:
        connection.cursor().execute(statement)
