import type { WindowSpan } from './spec.ts'
import type { WindowBlock, WindowLimits } from './window.ts'

/** What decides of the sequences of a rule. */
export interface SequenceShape {
  /** Number of steps. */
  steps: number
  /** The last step must not come. */
  isMissing: boolean
  hasUntil: boolean
  within: WindowSpan
}

/** Whether a missing block may have had what ends a sequence. */
export const isUndone = ({ isMissing, hasUntil }: SequenceShape): boolean => isMissing || hasUntil

/** In place of a step: what ends a sequence. */
export const UNTIL = -1

/** A match of a step, as JSON keeps it. */
export interface StepMatch {
  /** JSON list of the values of `by`. */
  key: string
  /** From 0, or `UNTIL`. */
  step: number
  /** Place in the block. Of two with the same place, none comes before the other. */
  at: number
  id: string
}

export interface SequencePlace {
  block: number
  id: string
}

/** A step as it is shown: where it came, or that it did not. */
export type ShownStep = { network?: string; block: number; _id: string } | { missing: true }

/** A sequence that is complete. */
export interface FoundSequence {
  key: string
  /** Of each step, but for the missing one. */
  steps: SequencePlace[]
  /** Index of the match that completes it; undefined where the last step is missing. */
  last: number | undefined
}

interface Place extends WindowBlock {
  at: number
  id: string
}

/** Matches of the steps up to one, in their order. */
type BegunSteps = readonly [Place, ...Place[]]

interface KeySequences {
  /** By the step that came last, the one that began last: it lives longest. */
  begun: (BegunSteps | undefined)[]
  /** Those that wait for the last step not to come, the oldest first. */
  waiting: BegunSteps[]
}

export type RuleSequence = ReturnType<typeof createRuleSequence>

/**
 * The sequences of a rule, by key. Blocks come in their order, and nothing else decides. All steps
 * lie in one window. At the last step, the sequence with the newest first step is complete, which
 * uses up that step and those before it: a first step belongs to one sequence at most. Where the
 * last step is missing, each complete beginning waits for itself. Only matches that change something
 * are taken: from those of one window, the state can be made again.
 */
export const createRuleSequence = (shape: SequenceShape, limits: WindowLimits) => {
  const { steps, isMissing, within } = shape
  const keys = new Map<string, KeySequences>()
  /** The last step that must come. */
  const end = isMissing ? steps - 2 : steps - 1
  let blocks: { block: WindowBlock; matches: readonly StepMatch[] }[] = []
  let head = 0
  let rows = 0

  const isOut = (row: WindowBlock, now: WindowBlock): boolean =>
    within.blocks !== undefined ? row.number <= now.number - within.blocks : row.time <= now.time - within.seconds!

  const drop = (key: string, { begun, waiting }: KeySequences) => {
    if (waiting.length === 0 && begun.every(chain => chain === undefined)) keys.delete(key)
  }

  /** Ends what began in a block that is out of the window; returns what has waited for that. */
  const leave = (now: WindowBlock): FoundSequence[] => {
    const found: FoundSequence[] = []
    for (; head < blocks.length && isOut(blocks[head]!.block, now); head++) {
      const { matches } = blocks[head]!
      rows -= matches.length
      for (const { key, step } of matches) {
        const state = step === 0 ? keys.get(key) : undefined
        if (state === undefined) continue
        for (const [i, chain] of state.begun.entries()) if (chain && isOut(chain[0], now)) state.begun[i] = undefined
        // All at once: each taken off the front of a long list would move the rest.
        const kept = state.waiting.findIndex(([first]) => !isOut(first, now))
        for (const chain of state.waiting.splice(0, kept < 0 ? state.waiting.length : kept))
          found.push({ key, steps: sequencePlaces(chain), last: undefined })
        drop(key, state)
      }
    }
    if (head > 1_000 && head * 2 > blocks.length) {
      blocks = blocks.slice(head)
      head = 0
    }
    return found
  }

  /** The sequence that the step makes longer. */
  const extended = (state: KeySequences, step: number, place: Place): BegunSteps | undefined => {
    if (step === 0) return [place]
    const before = state.begun[step - 1]
    const known = state.begun[step]
    return before === undefined || known?.[0] === before[0] ? undefined : [...before, place]
  }

  /** Uses up the first step of a sequence, and those before it. */
  const useUp = ({ begun }: KeySequences, [first]: BegunSteps) => {
    for (const [i, chain] of begun.entries()) if (chain && !comesBefore(first, chain[0])) begun[i] = undefined
  }

  /** Undefined if the match changes nothing. */
  const take = (match: StepMatch, now: WindowBlock, state: KeySequences): BegunSteps | 'changed' | undefined => {
    const { step } = match
    if (step === UNTIL || step > end) {
      if (step !== UNTIL && state.waiting.length === 0) return undefined
      state.waiting = []
      if (step === UNTIL) state.begun = []
      return 'changed'
    }
    const chain = extended(state, step, { ...now, at: match.at, id: match.id })
    if (chain === undefined) return undefined
    state.begun[step] = chain
    if (step < end) return 'changed'
    useUp(state, chain)
    if (isMissing) state.waiting.push(chain)
    return isMissing ? 'changed' : chain
  }

  const apply = (now: WindowBlock, matches: readonly StepMatch[], mayRefuse: boolean) => {
    const found = leave(now)
    const taken: StepMatch[] = []
    let refused = 0
    for (const last of inOrder(matches)) {
      const match = matches[last]!
      const { key, step } = match
      let state = keys.get(key)
      if (step === 0) {
        const isFull = rows + taken.length >= limits.rows || (state === undefined && keys.size >= limits.keys)
        if (mayRefuse && isFull) {
          refused++
          continue
        }
        state ??= { begun: [], waiting: [] }
        keys.set(key, state)
      }
      const change = state && take(match, now, state)
      if (!change) continue
      taken.push(match)
      if (change !== 'changed') found.push({ key, steps: sequencePlaces(change), last })
      drop(key, state!)
    }
    if (taken.length > 0) blocks.push({ block: now, matches: taken })
    rows += taken.length
    return { found, taken, refused }
  }

  return {
    get size() {
      return { keys: keys.size, rows }
    },
    /** The first block in the window of which a match was taken. */
    oldest: (): number | undefined => blocks[head]?.block.number,
    /** Takes over a block of which the outcome is known already. */
    load: (block: WindowBlock, taken: readonly StepMatch[]) => void apply(block, taken, false),
    /** After `load`: what is over at a block. */
    settle: (now: WindowBlock) => void leave(now),
    /**
     * Blocks are missing before the next one. What in them could have ended it is forgotten; what
     * began before and can only be completed goes on.
     */
    skip() {
      if (!isUndone(shape)) return
      keys.clear()
      blocks = []
      head = 0
      rows = 0
    },
    /** `refused`: first steps that had no room. */
    step: (now: WindowBlock, matches: readonly StepMatch[]) => apply(now, matches, true),
  }
}

export const shownSteps = (
  { isMissing }: Pick<SequenceShape, 'isMissing'>,
  { steps }: { steps: readonly SequencePlace[] },
): ShownStep[] => [
  ...steps.map(({ id, ...place }) => ({ ...place, _id: id })),
  ...(isMissing ? [{ missing: true as const }] : []),
]

/**
 * Places in the list of those that may change anything: the last step does nothing again until the
 * step before it has come.
 */
export const changingMatches = (matches: readonly Omit<StepMatch, 'id'>[], steps: number): number[] => {
  /** Keys of which the last step has come. */
  const ended = new Set<string>()
  const mayAct = (place: number): boolean => {
    const { key, step } = matches[place]!
    if (step === steps - 2) ended.delete(key)
    if (step !== steps - 1) return true
    const isFirst = !ended.has(key)
    ended.add(key)
    return isFirst
  }
  return [...inOrder(matches)].filter(mayAct).sort((a, b) => a - b)
}

/** By their places; at the same place, so that no match of a step continues that of another one. */
const inOrder = (matches: readonly Omit<StepMatch, 'id'>[]): Iterable<number> => {
  const order = (a: Omit<StepMatch, 'id'>, b: Omit<StepMatch, 'id'>) => a.at - b.at || rankAtPlace(a) - rankAtPlace(b)
  // Matches of one kind of entity come so, and may be many.
  if (matches.every((match, i) => i === 0 || order(matches[i - 1]!, match) <= 0)) return matches.keys()
  return [...matches.keys()].sort((a, b) => order(matches[a]!, matches[b]!))
}
const rankAtPlace = ({ step }: Pick<StepMatch, 'step'>): number => (step === UNTIL ? Number.MIN_SAFE_INTEGER : -step)

const comesBefore = (a: Place, b: Place): boolean => a.number < b.number || (a.number === b.number && a.at < b.at)

const sequencePlaces = (chain: BegunSteps): SequencePlace[] => chain.map(({ number, id }) => ({ block: number, id }))
