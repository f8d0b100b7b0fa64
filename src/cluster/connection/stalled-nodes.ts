import { messageOf } from '../../lib/errors.ts'

export interface StallTimes {
  /** Silence from which on nodes are probed, about as often. */
  silenceMs: number
  /** With the answer to a probe. */
  patienceMs: number
  /** Between two looks at who waits, and between two probes where a node missed the last one. */
  lookMs: number
}

interface StalledNodesOptions<Node extends object> {
  nodes(): readonly Node[]
  /** The node's id, or an empty text where it does not tell one; rejects where it does not answer in time. */
  probe(node: Node, patienceMs: number): Promise<string>
  /** A node stands still: others are asked from now on. */
  onHung(node: Node): void
  times?: StallTimes | undefined
}

/** What waits for an answer of a node. */
export interface Waiting<Node extends object> {
  node: Node
  /** Another node can answer it by other copies of the documents. */
  isRead: boolean
  /** Gives it up: it has to be asked again. */
  move(why: Error): void
  /** Gives it up where no node answers; undefined: it is waited for all the same. */
  fail?: ((why: Error) => void) | undefined
}

const STALL_TIMES: StallTimes = { silenceMs: 1_000, patienceMs: 1_000, lookMs: 250 }
/** A node that collects its garbage misses one probe. */
const STRIKES = 2
/** Where all miss them, nobody else can be asked: a search that is given up is an error then. */
const ALL_STRIKES = 3

interface NodeState {
  id: string
  strikes: number
  /** When it last answered anything. */
  answeredAt: number
}
const UNKNOWN_NODE: NodeState = { id: '', strikes: 0, answeredAt: Number.NEGATIVE_INFINITY }

/**
 * Finds nodes that stand still: they take connections and never answer. The cluster itself leaves such a node out after half a minute only. A slow
 * query is told from a node that stands still by a probe, which every node answers at once.
 */
export const createStalledNodes = <Node extends object>({
  nodes,
  probe,
  onHung,
  times: { silenceMs, patienceMs, lookMs } = STALL_TIMES,
}: StalledNodesOptions<Node>) => {
  /** Since when, the longest first. */
  const waiting = new Map<Waiting<Node>, { since: number; turn: number }>()
  const known = new Map<Node, NodeState>()
  let hung: readonly Node[] = []
  /** Counts what was found: what was asked before goes by copies that may not answer. */
  let turn = 0
  let isLooking = false
  let lookedAt = Number.NEGATIVE_INFINITY
  /** Whether a node that is not known to stand still missed the last probe. */
  let isDoubtful = false
  let silence: Error | undefined
  let timer: NodeJS.Timeout | undefined

  const look = async () => {
    const begun = performance.now()
    const all = nodes()
    const answers = await Promise.allSettled(all.map(node => probe(node, patienceMs)))
    // This thread itself stood still: answers may have come in time.
    if (performance.now() - begun > 2 * patienceMs) return
    all.forEach((node, i) => {
      const answer = answers[i]!
      const before = known.get(node) ?? UNKNOWN_NODE
      if (answer.status === 'fulfilled')
        known.set(node, { id: answer.value || before.id, strikes: 0, answeredAt: begun })
      // A node with too much to do is slow, and answers all the same.
      else known.set(node, { ...before, strikes: before.answeredAt >= begun ? 0 : before.strikes + 1 })
    })
    const isAny = answers.some(({ status }) => status === 'fulfilled')
    if (isAny) silence = undefined
    else if (all.every(node => known.get(node)!.strikes >= ALL_STRIKES)) failAll(answers)
    // Where none answers, others are no better.
    const now = isAny ? all.filter(node => known.get(node)!.strikes >= STRIKES) : []
    isDoubtful = all.some(node => known.get(node)!.strikes > 0 && !now.includes(node))
    const found = now.filter(node => !hung.includes(node))
    hung = now
    if (found.length > 0) turn++
    for (const node of found) onHung(node)
    if (hung.length > 0) moveFrom(begun)
  }

  /** What waited already when the nodes were asked. */
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

  /** From one look to the next. Where all are silent, searches are refused until one is found that is not. */
  const waitOf = (isLong: boolean): number => {
    if (silence) return silenceMs
    if (!isLong) return 2 * silenceMs
    return isDoubtful ? lookMs : silenceMs
  }

  return {
    /** Returns what has to be called once it is answered or given up: whether the node answered. */
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
    /** Ids of the nodes by whose copies a search is answered; undefined where all will do. */
    preferred() {
      if (hung.length === 0) return undefined
      const ids = nodes().flatMap(node => (hung.includes(node) ? [] : [known.get(node)?.id ?? '']))
      return ids.includes('') ? undefined : ids
    },
    /** Why nothing needs to be asked: no node answers anything; undefined where one may. */
    silence: () => silence,
    close: rest,
  }
}
