/** Step n brings the accounts file from version n to n + 1. What was released is never edited: changes are further steps. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE accounts (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     created_at INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE tokens (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     hash BLOB NOT NULL UNIQUE,
     hint TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER,
     revoked_at INTEGER,
     used_at INTEGER
   ) STRICT`,
]
