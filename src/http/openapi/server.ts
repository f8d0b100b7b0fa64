import { closed, listOf, number, oneOf, open, orNull, type Schema, text, whole } from './schema.ts'

const time = { ...text, format: 'date-time' }
const ranges = listOf(closed({ from: whole, to: whole }))

const reason = closed({ type: text, reason: text }, { network: text, since: time })

const period = closed({ limit: whole, used: whole, left: whole, endsAt: time })

const node = open(
  { url: text, requests: whole, errors: whole },
  {
    lastError: orNull(text),
    lastErrorAt: orNull(time),
    budget: closed({ costs: text, spent: whole }, { rate: text, day: period, month: period }),
  },
)

const network = open(
  {
    network: text,
    state: oneOf(['following', 'filling', 'waiting', 'serving', 'stored', 'restarting', 'stopped']),
    ranges,
    head: orNull(whole),
    lag: orNull(whole),
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
    coverage: {
      ...listOf(closed({ addresses: listOf(text), addressCount: whole, topics: listOf(text), ranges })),
      description: 'What was looked for in blocks that are not held whole. Absent where the network has no scopes.',
    },
  },
)

/** Schemas of what the server tells of itself. */
export const serverSchemas = (): Record<string, Schema> => ({
  Health: closed({ status: oneOf(['ok']) }),
  Readiness: closed({ status: oneOf(['ready', 'not ready']), reasons: listOf(reason) }),
  Status: open(
    { version: text, networks: listOf(network) },
    {
      deliveries: open({ state: oneOf(['delivering', 'restarting', 'stuck']), failing: listOf({ type: 'object' }) }),
      readers: open({ most: whole, started: whole, busy: whole, waiting: whole, lost: whole }),
      reasons: listOf(reason),
    },
  ),
})
