import {
  arrayOf,
  choiceOf,
  described,
  extensible,
  flag,
  int,
  literalOf,
  may,
  num,
  type Of,
  orNull,
  ranges,
  str,
  strict,
  timestamp,
} from './values.ts'

/** The status of the server. */

/** Lists only the first addresses and topics; the counts cover all. */
const scopeFilter = {
  ...{ addresses: arrayOf(str), addressCount: int, topics: arrayOf(str), topicCount: int },
  transactions: may(literalOf(true)),
}

const reason = strict({ type: str, reason: str, network: may(str), since: may(timestamp) })
const period = strict({ limit: int, used: int, left: int, endsAt: timestamp })

const node = extensible({
  ...{ url: str, requests: int, errors: int },
  ...{ lastError: orNull(str), lastErrorAt: orNull(timestamp), failingSince: may(timestamp) },
  heads: may(described('Whether it only announces new blocks.', flag)),
  responseMs: may(
    described('Milliseconds from a request to its answer, of the last answers.', strict({ median: int, p95: int })),
  ),
  slow: may(described('Whether answers for the head take so long that blocks come late.', flag)),
  head: may(described('Newest block that it reported.', int)),
  otherBranch: may(
    described(
      'A block that it has in the place of a stored one: it is on another branch.',
      strict({ number: int, hash: str, since: timestamp }),
    ),
  ),
  otherChain: may(described('The chain that it is a node of, where that is not the one of the network.', int)),
  budget: may(strict({ costs: str, spent: int, rate: may(str), day: may(period), month: may(period) })),
})

const network = extensible({
  network: str,
  state: choiceOf(['following', 'filling', 'waiting', 'serving', 'stored', 'restarting', 'stopped']),
  ranges,
  head: described('The highest block that any of its nodes reported last.', orNull(int)),
  lag: described('Blocks from the newest stored one to the head.', orNull(int)),
  error: orNull(str),
  endpoints: arrayOf(node),
  waiting: may(extensible({ for: str, since: timestamp, until: may(timestamp) })),
  restarts: may(extensible({ count: int, error: str, endedAt: timestamp, nextAt: orNull(timestamp) })),
  lastBlock: described(
    'The newest block that was taken, with its own time.',
    orNull(extensible({ number: int, time: timestamp, receivedAt: orNull(timestamp) })),
  ),
  headAge: described('Seconds since the chain made its newest known block.', orNull(num)),
  ...{ blockTime: orNull(num), blocksPerSecond: orNull(num) },
  ...{ eventsPerSecond: orNull(num), secondsLeft: orNull(num) },
  store: may(described('Why its store cannot be searched.', choiceOf(['damaged', 'unreadable']))),
  logLoss: may(
    described(
      'What the log of its store had lost when the server started.',
      extensible({ transactions: int, blocks: orNull(int) }),
    ),
  ),
  redecoding: may(described('What is decoded again, and how much is left.', extensible({ abi: str, blocksLeft: int }))),
  finality: may(
    described(
      'Newest blocks that nodes report as safe and finalized; null if they report none, and blocks count as such once they are `depth` blocks deep.',
      strict({ safe: orNull(int), finalized: orNull(int), depth: int }),
    ),
  ),
  cluster: may(
    described(
      'The state of the cluster that holds its documents. Absent if its file holds them.',
      extensible({
        state: choiceOf(['green', 'yellow', 'red', 'unreachable']),
        ...{ since: timestamp, error: orNull(str), version: orNull(str), nodes: orNull(int) },
        ...{ unassignedShards: orNull(int), pendingTasks: orNull(int), diskFree: orNull(int) },
        ...{ watermark: orNull(str), lost: arrayOf(str), indices: str },
      }),
    ),
  ),
  shipping: may(
    described(
      'How many stored blocks are not in the cluster yet, and why and since when nothing can be shipped, or brought back.',
      extensible({ blocksLeft: int, trouble: orNull(str), troubleSince: orNull(timestamp) }),
    ),
  ),
  moving: may(
    described(
      'Where documents move to, how many stored blocks there are, and how many of them are there and were compared. Absent once they are searched there.',
      extensible({ to: choiceOf(['opensearch', 'sqlite']), blocks: int, shipped: int, verified: int }),
    ),
  ),
  coverage: may(
    described(
      'What was searched in blocks that are not stored whole: logs, or with `transactions` all transactions from and to the addresses. Absent if the network has no scopes.',
      arrayOf(strict({ ...scopeFilter, ranges })),
    ),
  ),
  filling: may(
    described(
      'What is looked for below the head for scopes, and the first block that was not looked at yet.',
      strict({ ...scopeFilter, from: int, to: int, next: int }),
    ),
  ),
  missing: may(
    described(
      'Blocks to index that no node has, what a node answered, when they are requested again, and the remedy. Absent if there are none.',
      strict({ ranges, why: str, since: timestamp, nextAt: orNull(timestamp), remedy: str }),
    ),
  ),
})

const status = extensible({
  version: str,
  networks: arrayOf(network),
  deliveries: may(
    extensible({
      state: choiceOf(['delivering', 'restarting', 'stuck']),
      error: may(orNull(str)),
      failing: arrayOf(extensible({ since: timestamp })),
    }),
  ),
  readers: may(extensible({ most: int, started: int, busy: int, waiting: int, lost: int, error: may(orNull(str)) })),
  reasons: may(arrayOf(reason)),
  warnings: may(arrayOf(reason)),
})

export const SERVER_SHAPES = {
  Health: strict({ status: choiceOf(['ok']) }),
  Readiness: strict({ status: choiceOf(['ready', 'not ready']), reasons: arrayOf(reason), warnings: arrayOf(reason) }),
  Status: status,
}

export type Status = Of<typeof status>
export type NetworkStatus = Status['networks'][number]
