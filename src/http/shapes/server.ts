import {
  closed,
  described,
  flag,
  listOf,
  may,
  number,
  type Of,
  oneOf,
  only,
  open,
  orNull,
  ranges,
  text,
  time,
  whole,
} from './values.ts'

/** What the server tells of itself. */

/** Of many addresses and topics, the first ones. */
const filter = {
  ...{ addresses: listOf(text), addressCount: whole, topics: listOf(text), topicCount: whole },
  transactions: may(only(true)),
}

const reason = closed({ type: text, reason: text, network: may(text), since: may(time) })
const period = closed({ limit: whole, used: whole, left: whole, endsAt: time })

const node = open({
  ...{ url: text, requests: whole, errors: whole },
  ...{ lastError: orNull(text), lastErrorAt: orNull(time), failingSince: may(time) },
  heads: may(described('Whether it only announces new blocks.', flag)),
  responseMs: may(
    described('Milliseconds from a request to its answer, of the last answers.', closed({ median: whole, p95: whole })),
  ),
  slow: may(described('Whether answers for the head take so long that blocks come late.', flag)),
  head: may(described('Newest block that it told.', whole)),
  otherBranch: may(
    described(
      'A block that it has in the place of a stored one: it is on another branch.',
      closed({ number: whole, hash: text, since: time }),
    ),
  ),
  otherChain: may(described('The chain that it is a node of, where that is not the one of the network.', whole)),
  budget: may(closed({ costs: text, spent: whole, rate: may(text), day: may(period), month: may(period) })),
})

const network = open({
  network: text,
  state: oneOf(['following', 'filling', 'waiting', 'serving', 'stored', 'restarting', 'stopped']),
  ranges,
  head: described('The highest block that any of its nodes told last.', orNull(whole)),
  lag: described('Blocks from the newest stored one to the head.', orNull(whole)),
  error: orNull(text),
  endpoints: listOf(node),
  waiting: may(open({ for: text, since: time, until: may(time) })),
  restarts: may(open({ count: whole, error: text, endedAt: time, nextAt: orNull(time) })),
  lastBlock: described(
    'The newest block that was taken, with its own time.',
    orNull(open({ number: whole, time, receivedAt: orNull(time) })),
  ),
  headAge: described('Seconds since the chain made its newest known block.', orNull(number)),
  ...{ blockTime: orNull(number), blocksPerSecond: orNull(number) },
  ...{ eventsPerSecond: orNull(number), secondsLeft: orNull(number) },
  store: may(described('Why its store cannot be searched.', oneOf(['damaged', 'unreadable']))),
  logLoss: may(
    described(
      'What the log of its store had lost when the server started.',
      open({ transactions: whole, blocks: orNull(whole) }),
    ),
  ),
  redecoding: may(described('What is decoded again, and how much is left.', open({ abi: text, blocksLeft: whole }))),
  finality: may(
    described(
      'Newest blocks that nodes tell to be safe and finalized; null where they tell none, and blocks count as such once they are `depth` blocks deep.',
      closed({ safe: orNull(whole), finalized: orNull(whole), depth: whole }),
    ),
  ),
  cluster: may(
    described(
      'How the cluster is that its documents lie in. Absent where they lie in its file.',
      open({
        state: oneOf(['green', 'yellow', 'red', 'unreachable']),
        ...{ since: time, error: orNull(text), version: orNull(text), nodes: orNull(whole) },
        ...{ unassignedShards: orNull(whole), pendingTasks: orNull(whole), diskFree: orNull(whole) },
        ...{ watermark: orNull(text), lost: listOf(text), indices: text },
      }),
    ),
  ),
  shipping: may(
    described(
      'How many stored blocks are not in the cluster yet, and why and since when nothing can be shipped, or brought back.',
      open({ blocksLeft: whole, trouble: orNull(text), troubleSince: orNull(time) }),
    ),
  ),
  moving: may(
    described(
      'Where documents move to, how many stored blocks there are, and how many of them are there and were compared. Absent once they are searched there.',
      open({ to: oneOf(['opensearch', 'sqlite']), blocks: whole, shipped: whole, verified: whole }),
    ),
  ),
  coverage: may(
    described(
      'What was looked for in blocks that are not held whole: logs, or with `transactions` all transactions from and to the addresses. Absent where the network has no scopes.',
      listOf(closed({ ...filter, ranges })),
    ),
  ),
  filling: may(
    described(
      'What is looked for below the head for scopes, and the first block that was not looked at yet.',
      closed({ ...filter, from: whole, to: whole, next: whole }),
    ),
  ),
  missing: may(
    described(
      'Blocks below the head that are wanted and that none of the nodes has, what a node said of them, when they are asked for again, and what helps. Absent where there are none.',
      closed({ ranges, why: text, since: time, nextAt: orNull(time), remedy: text }),
    ),
  ),
})

const status = open({
  version: text,
  networks: listOf(network),
  deliveries: may(
    open({
      state: oneOf(['delivering', 'restarting', 'stuck']),
      error: may(orNull(text)),
      failing: listOf(open({ since: time })),
    }),
  ),
  readers: may(
    open({ most: whole, started: whole, busy: whole, waiting: whole, lost: whole, error: may(orNull(text)) }),
  ),
  reasons: may(listOf(reason)),
  warnings: may(listOf(reason)),
})

export const SERVER_SHAPES = {
  Health: closed({ status: oneOf(['ok']) }),
  Readiness: closed({ status: oneOf(['ready', 'not ready']), reasons: listOf(reason), warnings: listOf(reason) }),
  Status: status,
}

export type Status = Of<typeof status>
export type NetworkStatus = Status['networks'][number]
