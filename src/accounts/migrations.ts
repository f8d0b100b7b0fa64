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
  // What a rule says is one JSON text: it is read whole or not at all. `seq` counts changes of all rules, so that whoever follows a
  // network's rules reads those alone that changed since; one that left the network leaves its number behind in rules_gone.
  `CREATE TABLE rules (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     revision INTEGER NOT NULL,
     matching INTEGER NOT NULL,
     enabled INTEGER NOT NULL,
     network TEXT NOT NULL,
     start_block INTEGER,
     input TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     seq INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX rules_by_network ON rules (network, seq);
   CREATE INDEX rules_by_account ON rules (account);
   CREATE TABLE rules_gone (
     network TEXT NOT NULL,
     rule INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     PRIMARY KEY (network, rule)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE rule_changes (last INTEGER NOT NULL) STRICT;
   INSERT INTO rule_changes VALUES (0);
   CREATE TABLE webhook_secrets (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     account INTEGER NOT NULL REFERENCES accounts,
     secret TEXT NOT NULL,
     created_at INTEGER NOT NULL,
     expires_at INTEGER
   ) STRICT;
   CREATE INDEX webhook_secrets_by_account ON webhook_secrets (account)`,
  // A token could do everything before there were scopes. Entries of the audit trail are added and, when they are old, removed; none is changed.
  `ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT 'search,rules,admin';
   ALTER TABLE tokens ADD COLUMN replaced_by INTEGER REFERENCES tokens;
   CREATE TABLE audit (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     at INTEGER NOT NULL,
     account INTEGER REFERENCES accounts,
     token INTEGER,
     user TEXT,
     address TEXT,
     action TEXT NOT NULL,
     target TEXT,
     detail TEXT,
     count INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX audit_by_account ON audit (account, id);
   CREATE TRIGGER audit_stays BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit trail is not changed'); END`,
  'ALTER TABLE tokens ADD COLUMN rate INTEGER',
]
