import { messageOf } from '../../lib/errors.ts'

export interface StallTimes {
  /** Silence after which nodes are probed, and interval of probes. */
  silenceMs: number
  /** Timeout of a probe. */
  patienceMs: number
  /** Interval of checks, and of probes after a missed one. */
  lookMs: number
}

interface StalledNodesOptions<Node extends object> {
  nodes(): readonly Node[]
  /** Node id, or empty text if the answer lacks it; rejects on timeout. */
  probe(node: Node, patienceMs: number): Promise<string>
  /** A node stalled: other nodes are used from now on. */
  onHung(node: Node): void
  times?: StallTimes | undefined
}

/** A request that waits for a node. */
export interface Waiting<Node extends object> {
  node: Node
  /** Whether another node can answer it from other copies. */
  isRead: boolean
  /** Aborts it for a retry on another node. */
  move(why: Error): void
  /** Aborts it if no node answers; undefined: it keeps waiting. */
  fail?: ((why: Error) => void) | undefined
}

const STALL_TIMES: StallTimes = { silenceMs: 1_000, patienceMs: 1_000, lookMs: 250 }
/** Missed probes of a stalled node; garbage collection costs one. */
const STRIKES = 2
/** Missed probes if all nodes fail: no other node can take over, and searches fail. */
const ALL_STRIKES = 3

interface NodeState {
  id: string
  strikes: number
  /** Time of its last answer of any kind. */
  answeredAt: number
}
const UNKNOWN_NODE: NodeState = { id: '', strikes: 0, answeredAt: Number.NEGATIVE_INFINITY }

/**
 * Detects stalled nodes, which accept connections but never answer: the cluster drops them only
 * after half a minute. Probes, answered at once by healthy nodes, rule out slow queries.
 */
export const createStalledNodes = <Node extends object>({
  nodes,
  probe,
  onHung,
  times: { silenceMs, patienceMs, lookMs } = STALL_TIMES,
}: StalledNodesOptions<Node>) => {
  /** Start of waiting, oldest first. */
  const waiting = new Map<Waiting<Node>, { since: number; turn: number }>()
  const known = new Map<Node, NodeState>()
  let hung: readonly Node[] = []
  /** Number of detections: earlier requests may depend on copies that are stalled. */
  let turn = 0
  let isLooking = false
  let lookedAt = Number.NEGATIVE_INFINITY
  /** Whether a node that does not count as stalled missed the last probe. */
  let isDoubtful = false
  let silence: Error | undefined
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    const begun = performance.now()
    const all = nodes()
    const answers = await Promise.allSettled(all.map(node => probe(node, patienceMs)))
    // This thread was blocked itself: answers may have arrived in time.
    if (performance.now() - begun > 2 * patienceMs) return
    all.forEach((node, i) => {
      const answer = answers[i]!
      const before = known.get(node) ?? UNKNOWN_NODE
      if (answer.status === 'fulfilled')
        known.set(node, { id: answer.value || before.id, strikes: 0, answeredAt: begun })
      // An overloaded node is slow, but still answers.
      else known.set(node, { ...before, strikes: before.answeredAt >= begun ? 0 : before.strikes + 1 })
    })
    const isAny = answers.some(({ status }) => status === 'fulfilled')
    if (isAny) silence = undefined
    else if (all.every(node => known.get(node)!.strikes >= ALL_STRIKES)) failAll(answers)
    // If no node answers, moving requests is useless.
    const now = isAny ? all.filter(node => known.get(node)!.strikes >= STRIKES) : []
    isDoubtful = all.some(node => known.get(node)!.strikes > 0 && !now.includes(node))
    const found = now.filter(node => !hung.includes(node))
    hung = now
    if (found.length > 0) turn++
    for (const node of found) onHung(node)
    if (hung.length > 0) moveFrom(begun)
  }

  /** Moves requests that were already waiting at the time of the probe. */
  const moveFrom = (asked: number) => {
    for (const [one, { since, turn: sent }] of [...waiting]) {
      const isStuck = hung.includes(one.node) ? since <= asked : one.isRead && sent < turn && since <= asked - silenceMs
      if (isStuck) one.move(new Error('a node of the cluster hangs'))
    }
  }

  const failAll = (answers: readonly PromiseSettledResult<string>[]) => {
    const reasons = answers.flatMap(answer => (answer.status === 'rejected' ? [messageOf(answer.reason)] : []))
    silence = new Error(`no node answers (${[...new Set(reasons)].join('; ')})`)
    for (const one of [...waiting.keys()]) one.fail?.(silence)
  }

  const rest = () => {
    clearInterval(timer)
    timer = undefined
  }
  const tick = () => {
    const isAny = hung.length > 0 || silence !== undefined
    if (waiting.size === 0 && !isAny) return rest()
    if (isLooking) return
    const now = performance.now()
    const [{ since: oldest } = { since: now }] = waiting.values()
    const isLong = now - oldest >= silenceMs
    if (!isLong && !isAny) return
    if (now - lookedAt < waitOf(isLong)) return
    isLooking = true
    void look().finally(() => {
      isLooking = false
      lookedAt = performance.now()
    })
  }

  /** Time to the next check. If all nodes are silent, searches fail until one answers. */
  const waitOf = (isLong: boolean): number => {
    if (silence) return silenceMs
    if (!isLong) return 2 * silenceMs
    return isDoubtful ? lookMs : silenceMs
  }

  return {
    /** Returns a callback for the end of the request: whether the node answered. */
    sent(one: Waiting<Node>) {
      waiting.set(one, { since: performance.now(), turn })
      timer ??= setInterval(tick, lookMs).unref()
      return (isAnswered: boolean) => {
        waiting.delete(one)
        if (!isAnswered) return
        known.set(one.node, { ...(known.get(one.node) ?? UNKNOWN_NODE), answeredAt: performance.now() })
        silence = undefined
      }
    },
    /** Ids of nodes that may answer a search; undefined for all. */
    preferred() {
      if (hung.length === 0) return undefined
      const ids = nodes().flatMap(node => (hung.includes(node) ? [] : [known.get(node)?.id ?? '']))
      return ids.includes('') ? undefined : ids
    },
    /** Reason to skip requests, as no node answers; undefined if one may. */
    silence: () => silence,
    close: rest,
  }
}
