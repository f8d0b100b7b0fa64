/** Step n upgrades from version n to n + 1. Released steps are never edited. */
export const DELIVERY_MIGRATIONS: readonly string[] = [
  `-- Up to which number the outbox of a store has been taken over.
   CREATE TABLE cursor (
     store TEXT PRIMARY KEY,
     network TEXT NOT NULL,
     n INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;

   -- Whom actions name: rules that are not changed name the same one again and again.
   CREATE TABLE receiver (
     id INTEGER PRIMARY KEY,
     -- The action as JSON, as its owner wrote it.
     action TEXT NOT NULL UNIQUE,
     channel TEXT NOT NULL,
     destination TEXT NOT NULL,
     -- Channel and parameters, hashed: the same for actions that differ in their payload alone.
     target TEXT NOT NULL,
     -- As its owner and the log may see it.
     shown TEXT NOT NULL
   ) STRICT;

   -- What is told: shared by all deliveries of an alert's state, and by their retractions. Apart from them, since it never changes and
   -- may be long.
   CREATE TABLE message (
     id INTEGER PRIMARY KEY,
     network TEXT NOT NULL,
     alert TEXT NOT NULL,
     head TEXT NOT NULL,
     source TEXT NOT NULL
   ) STRICT;

   CREATE TABLE delivery (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     network TEXT NOT NULL,
     alert TEXT NOT NULL,
     -- Grows when an alert is confirmed again after its retraction.
     round INTEGER NOT NULL,
     type TEXT NOT NULL,
     -- Place of the action in the rule's list of alerts.
     action INTEGER NOT NULL,
     -- Of a retraction: the delivery that it takes back; 0 of others.
     original INTEGER NOT NULL DEFAULT 0,
     rule INTEGER NOT NULL,
     revision INTEGER NOT NULL,
     account INTEGER NOT NULL,
     receiver INTEGER NOT NULL REFERENCES receiver,
     destination TEXT NOT NULL,
     message INTEGER NOT NULL REFERENCES message,
     state TEXT NOT NULL CHECK (state IN ('queued', 'delivered', 'dead', 'cancelled')),
     tries INTEGER NOT NULL DEFAULT 0,
     next_at INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     -- When it was queued last: when it was made, or when redelivery was asked for.
     queued_at INTEGER NOT NULL,
     -- When the block was received.
     received_at INTEGER NOT NULL,
     -- When the alert came to the state that is told.
     changed_at INTEGER NOT NULL,
     -- Written before the first byte is sent: from then on it may have arrived.
     begun_at INTEGER,
     -- When it was delivered, dead or cancelled.
     settled_at INTEGER,
     delivered_at INTEGER,
     -- A later message took its place: it is never sent again.
     overtaken INTEGER NOT NULL DEFAULT 0,
     -- The alert was retracted.
     retracted INTEGER NOT NULL DEFAULT 0,
     last_status INTEGER,
     last_error TEXT,
     UNIQUE (alert, network, round, type, action, original)
   ) STRICT;
   CREATE INDEX delivery_due ON delivery (destination, next_at) WHERE state = 'queued';
   CREATE INDEX delivery_waiting ON delivery (rule, receiver, next_at) WHERE state = 'queued';
   CREATE INDEX delivery_rule ON delivery (rule);
   CREATE INDEX delivery_dead ON delivery (state) WHERE state = 'dead';
   CREATE INDEX delivery_settled ON delivery (state, settled_at) WHERE settled_at IS NOT NULL;

   -- The ledger.
   CREATE TABLE attempt (
     delivery INTEGER NOT NULL REFERENCES delivery ON DELETE CASCADE,
     n INTEGER NOT NULL,
     at INTEGER NOT NULL,
     latency_ms INTEGER NOT NULL,
     outcome TEXT NOT NULL,
     status INTEGER,
     error TEXT,
     head TEXT,
     next_at INTEGER,
     -- Deliveries that went into this one attempt.
     combined INTEGER NOT NULL,
     PRIMARY KEY (delivery, n)
   ) STRICT, WITHOUT ROWID;

   -- Receivers that answered 410 to a rule: nothing goes there until the rule is another, or redelivery is asked for.
   CREATE TABLE disabled (
     rule INTEGER NOT NULL,
     destination TEXT NOT NULL,
     revision INTEGER NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (rule, destination)
   ) STRICT, WITHOUT ROWID;

   CREATE TABLE rule_count (
     rule INTEGER PRIMARY KEY,
     triggered INTEGER NOT NULL
   ) STRICT`,

  `-- What a rule said when it found something, as JSON: once for each of its revisions, however often it fires.
   CREATE TABLE said (
     id INTEGER PRIMARY KEY,
     rule INTEGER NOT NULL,
     revision INTEGER NOT NULL,
     text TEXT NOT NULL,
     UNIQUE (rule, revision)
   ) STRICT;
   INSERT INTO said (rule, revision, text)
     SELECT d.rule, d.revision, json_extract(m.head, '$.rule') FROM delivery d JOIN message m ON m.id = d.message WHERE true
     ON CONFLICT DO NOTHING;
   UPDATE message SET head = json_remove(head, '$.rule');

   -- Accounts whose outbox entries above n are taken over by and by, while those of others go on.
   CREATE TABLE backlog (
     store TEXT NOT NULL,
     account INTEGER NOT NULL,
     n INTEGER NOT NULL,
     PRIMARY KEY (store, account)
   ) STRICT, WITHOUT ROWID;

   DROP INDEX delivery_due;
   CREATE INDEX delivery_due ON delivery (account, destination, (tries > 0), next_at) WHERE state = 'queued';
   CREATE INDEX delivery_test ON delivery (rule) WHERE type = 'alert.test';
   -- Without these, forgetting a message or receiver looks through all deliveries.
   CREATE INDEX delivery_message ON delivery (message);
   CREATE INDEX delivery_receiver ON delivery (receiver)`,

  `-- Paused rules of which everything was cancelled that their pause cancels: what is queued for them now was asked for since.
   CREATE TABLE pause_done (
     rule INTEGER PRIMARY KEY
   ) STRICT`,

  `-- An account's deliveries of a state, the newest first.
   CREATE INDEX delivery_account ON delivery (account, state)`,

  `-- Receivers whose last delivery failed.
   CREATE TABLE failing (
     account INTEGER NOT NULL,
     channel TEXT NOT NULL,
     -- The destination of a URL, the recipients of an email.
     receiver TEXT NOT NULL,
     -- One of the rules that notify it.
     rule INTEGER NOT NULL,
     target TEXT NOT NULL,
     error TEXT NOT NULL,
     status INTEGER,
     -- When the first attempt after the last success failed, and the last one.
     since INTEGER NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (account, channel, receiver)
   ) STRICT, WITHOUT ROWID;
   WITH tried AS (
     SELECT d.account, r.channel, CASE r.channel WHEN 'Email' THEN r.shown ELSE r.destination END AS receiver, d.rule, r.shown AS target,
       coalesce(d.last_error, '') AS error, d.last_status AS status, d.delivered_at AS delivered,
       CASE WHEN d.state <> 'delivered' THEN (SELECT min(at) FROM attempt WHERE delivery = d.id) END AS first,
       CASE WHEN d.state <> 'delivered' THEN (SELECT max(at) FROM attempt WHERE delivery = d.id) END AS last
     FROM delivery d JOIN receiver r ON r.id = d.receiver
     WHERE d.type <> 'alert.test' AND (d.state IN ('delivered', 'dead') OR d.state = 'queued' AND d.tries > 0)
   )
   INSERT INTO failing (account, channel, receiver, rule, target, error, status, since, at)
     SELECT account, channel, receiver, rule, target, error, status, min(first), max(last) FROM tried
     GROUP BY account, channel, receiver HAVING max(last) IS NOT NULL AND max(last) > coalesce(max(delivered), 0)`,

  `-- The silence by which a cancelled delivery was not sent.
   ALTER TABLE delivery ADD COLUMN silence INTEGER`,

  `-- What deliveries of a rule must share to be sent as one message, and most of them in one.
   ALTER TABLE delivery ADD COLUMN group_key TEXT;
   ALTER TABLE delivery ADD COLUMN group_size INTEGER;
   -- The message, by its id: written before it is sent, so that each try has the same deliveries.
   ALTER TABLE delivery ADD COLUMN group_id TEXT;
   CREATE INDEX delivery_group ON delivery (rule, receiver, group_key, group_id, next_at) WHERE state = 'queued' AND group_key IS NOT NULL`,

  `-- Of a repeat: the block that it tells of. Its original is the last delivery of the alert before it.
   ALTER TABLE delivery ADD COLUMN repeat INTEGER`,
]
