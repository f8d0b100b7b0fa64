import { closed, listOf, number, oneOf, open, orNull, type Schema, text, whole } from './schema.ts'

const time = { ...text, format: 'date-time' }
const ranges = listOf(closed({ from: whole, to: whole }))

/** Of many addresses and topics, the first ones. */
const filter = { addresses: listOf(text), addressCount: whole, topics: listOf(text), topicCount: whole }
const ofTransactions = { transactions: { const: true } }

const reason = closed({ type: text, reason: text }, { network: text, since: time })

const period = closed({ limit: whole, used: whole, left: whole, endsAt: time })

const node = open(
  { url: text, requests: whole, errors: whole },
  {
    lastError: orNull(text),
    lastErrorAt: orNull(time),
    heads: { type: 'boolean', description: 'Whether it only announces new blocks.' },
    responseMs: {
      ...closed({ median: whole, p95: whole }),
      description: 'Milliseconds from a request to its answer, of the last answers.',
    },
    slow: { type: 'boolean', description: 'Whether answers for the head take so long that blocks come late.' },
    head: { ...whole, description: 'Newest block that it told.' },
    otherBranch: {
      ...closed({ number: whole, hash: text, since: time }),
      description: 'A block that it has in the place of a stored one: it is on another branch.',
    },
    otherChain: { ...whole, description: 'The chain that it is a node of, where that is not the one of the network.' },
    budget: closed({ costs: text, spent: whole }, { rate: text, day: period, month: period }),
  },
)

const network = open(
  {
    network: text,
    state: oneOf(['following', 'filling', 'waiting', 'serving', 'stored', 'restarting', 'stopped']),
    ranges,
    head: { ...orNull(whole), description: 'The highest block that any of its nodes told last.' },
    lag: { ...orNull(whole), description: 'Blocks from the newest stored one to the head.' },
    error: orNull(text),
    endpoints: listOf(node),
  },
  {
    lastBlock: { type: ['object', 'null'], description: 'The newest block that was taken, with its own time.' },
    headAge: { ...orNull(number), description: 'Seconds since the chain made its newest known block.' },
    blockTime: orNull(number),
    blocksPerSecond: orNull(number),
    eventsPerSecond: orNull(number),
    secondsLeft: orNull(number),
    finality: {
      ...closed({ safe: orNull(whole), finalized: orNull(whole), depth: whole }),
      description:
        'Newest blocks that nodes tell to be safe and finalized; null where they tell none, and blocks count as such once they are `depth` blocks deep.',
    },
    cluster: {
      ...open({
        state: oneOf(['green', 'yellow', 'red', 'unreachable']),
        ...{ since: time, error: orNull(text), version: orNull(text), nodes: orNull(whole) },
        ...{ unassignedShards: orNull(whole), pendingTasks: orNull(whole), diskFree: orNull(whole) },
        watermark: orNull(text),
        lost: listOf(text),
        indices: text,
      }),
      description: 'How the cluster is that its documents lie in. Absent where they lie in its file.',
    },
    shipping: {
      ...open({ blocksLeft: whole, trouble: orNull(text), troubleSince: orNull(time) }),
      description:
        'How many stored blocks are not in the cluster yet, and why and since when nothing can be shipped, or brought back.',
    },
    moving: {
      ...open({ to: oneOf(['opensearch', 'sqlite']), blocks: whole, shipped: whole, verified: whole }),
      description:
        'Where documents move to, how many stored blocks there are, and how many of them are there and were compared. Absent once they are searched there.',
    },
    coverage: {
      ...listOf(closed({ ...filter, ranges }, ofTransactions)),
      description:
        'What was looked for in blocks that are not held whole: logs, or with `transactions` all transactions from and to the addresses. Absent where the network has no scopes.',
    },
    filling: {
      ...closed({ ...filter, from: whole, to: whole, next: whole }, ofTransactions),
      description: 'What is looked for below the head for scopes, and the first block that was not looked at yet.',
    },
    missing: {
      ...closed({ ranges, why: text, since: time, nextAt: orNull(time), remedy: text }),
      description:
        'Blocks below the head that are wanted and that none of the nodes has, what a node said of them, when they are asked for again, and what helps. Absent where there are none.',
    },
  },
)

/** Schemas of what the server tells of itself. */
export const serverSchemas = (): Record<string, Schema> => ({
  Health: closed({ status: oneOf(['ok']) }),
  Readiness: closed({ status: oneOf(['ready', 'not ready']), reasons: listOf(reason), warnings: listOf(reason) }),
  Status: open(
    { version: text, networks: listOf(network) },
    {
      deliveries: open({ state: oneOf(['delivering', 'restarting', 'stuck']), failing: listOf({ type: 'object' }) }),
      readers: open({ most: whole, started: whole, busy: whole, waiting: whole, lost: whole }),
      reasons: listOf(reason),
      warnings: listOf(reason),
    },
  ),
})
