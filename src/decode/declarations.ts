import type { CallDecoderOptions } from './calls.ts'
import type { FunctionCandidate, Functions } from './functions.ts'
import type { Candidate, LogDecoderOptions } from './logs.ts'
import type { Registry } from './registry.ts'
import { type FunctionAbi, selectorOf, topicOf } from './signature.ts'
import type { EventAbi } from './types.ts'

export interface OwnAbi {
  /** Lower-case `0x` address of the only contract that these declarations apply to. */
  address: string | null
  /** Lower-case `0x` code hash of those contracts; without it and `address`, it applies to all. */
  codeHash?: string | null
  /** 1 for an ABI; less for a list of signatures, which lacks `indexed` and ranks last. */
  probability: number
  events: readonly EventAbi[]
  functions: readonly FunctionAbi[]
  errors?: readonly FunctionAbi[]
}

/** A contract whose ABI may hold for another one. */
export interface Linked {
  /** Lower-case. */
  address: string
  /** Null if unknown. */
  codeHash: string | null
  /** Similarity of its code, from 0 to 1; absent if its own code is run. */
  likeness?: number
}

/**
 * A contract and those whose code it runs at a position of the chain, nearest first; with a
 * selector, only those to which a call with this selector is forwarded.
 */
export type LinksOf = (address: string, at: number, selector?: string) => readonly Linked[]

const alone: LinksOf = address => [{ address: address.toLowerCase(), codeHash: null }]

/** Topics and selectors of ABIs for some contracts; others decode alike for every contract. */
export const boundKeys = (own: readonly OwnAbi[]): ReadonlySet<string> =>
  new Set(
    own
      .filter(abi => holderOf(abi) !== null)
      .flatMap(abi => [...eventsByTopic(abi), ...functionsBySelector(abi)].map(([key]) => key)),
  )

/** Registry declarations fit all bytes, but another contract may mean something else by them. */
export const REGISTRY_PROBABILITY = 0.9
/** Probability for the ABI of a contract with equal code: it may declare more than the code has. */
const LIKENESS_PROBABILITY = 0.95

/**
 * Finds declarations of logs, in this order: user ABIs for the contract, for its code, for the
 * contracts whose code it runs, and for all contracts; the registry; lists of signatures.
 */
export const createEventDeclarations = (
  registry: Registry,
  own: readonly OwnAbi[],
  linksOf: LinksOf = alone,
): Pick<LogDecoderOptions, 'find' | 'own'> => {
  const { general, special } = createIndexes(own, eventsByTopic)
  const inGeneral = createVariants(general)

  const find = (topic: string, indexed: number): readonly Candidate[] => {
    const mine = inGeneral(topic, indexed)
    const known = [
      ...mine.filter(isCertain),
      ...registry.find(topic, indexed).map(toCandidate),
      ...mine.filter(isGuess),
    ]
    if (known.length > 0) return known
    const named = general.get(topic)?.find(isCertain)?.event ?? registry.named(topic)
    return named ? [toCandidate(named)] : (general.get(topic)?.slice(0, 1) ?? [])
  }
  if (special.size === 0) return { find }

  const inSpecial = new Map([...special].map(([holder, byTopic]) => [holder, createVariants(byTopic)]))
  const topics = keysIn(special)
  return {
    find,
    own(address, topic, indexed, at) {
      if (!topics.has(topic)) return NO_CANDIDATES
      const mine = linksOf(address, at).flatMap(link =>
        candidatesOfHolder(link, inSpecial).flatMap(its => likened(its(topic, indexed), link)),
      )
      if (mine.every(isCertain)) return mine
      return [...mine.filter(isSure), ...find(topic, indexed), ...mine.filter(isUnsure)]
    },
  }
}

/** Finds declarations of calls, in the same order. */
export const createFunctionDeclarations = (
  registry: Pick<Functions, 'find'>,
  own: readonly OwnAbi[],
  linksOf: LinksOf = alone,
): CallDecoderOptions => {
  const { general, special } = createIndexes(own, functionsBySelector)

  const find = (selector: string): readonly FunctionCandidate[] => {
    const mine = general.get(selector)
    if (!mine) return registry.find(selector)
    return [...mine.filter(isCertain), ...registry.find(selector), ...mine.filter(isGuess)]
  }
  if (special.size === 0) return { find }

  const selectors = keysIn(special)
  return {
    find,
    own(to, selector, at) {
      if (!selectors.has(selector)) return []
      const lists = linksOf(to, at, selector).flatMap(link =>
        candidatesOfHolder(link, special).flatMap(bySelector => [likened(bySelector.get(selector) ?? [], link)]),
      )
      const certain = lists.find(list => list.some(isCertain))?.filter(isCertain)
      if (certain) return certain
      const guesses = lists.flat()
      if (guesses.length === 0) return guesses
      return [...guesses.filter(isSure), ...find(selector), ...guesses.filter(isUnsure)]
    },
  }
}

const isCertain = ({ probability }: { probability: number }): boolean => probability === 1
const isGuess = ({ probability }: { probability: number }): boolean => probability < 1

/** Ranks before the registry. */
const isSure = ({ probability }: { probability: number }): boolean => probability > REGISTRY_PROBABILITY
const isUnsure = ({ probability }: { probability: number }): boolean => probability <= REGISTRY_PROBABILITY

/** Rounded, since declarations are cached for each probability. */
export const probabilityOfLike = (likeness: number): number => Math.round(likeness * LIKENESS_PROBABILITY * 100) / 100

/** Lowers probabilities by the similarity of the code; equal calls return the same objects. */
const likened = <C extends Candidate | FunctionCandidate>(
  candidates: readonly C[],
  { likeness }: Linked,
): readonly C[] => {
  if (likeness === undefined) return candidates
  const share = probabilityOfLike(likeness)
  return candidates.map(candidate => {
    const known: Map<number, C> = likenings.get(candidate) ?? new Map()
    likenings.set(candidate, known)
    let less = known.get(share)
    if (!less) {
      const probability = Math.round(candidate.probability * share * 1000) / 1000
      // Signatures of logs are identified by their declaration object, so copy it.
      less =
        'event' in candidate
          ? { ...candidate, event: { ...candidate.event }, probability }
          : { ...candidate, probability }
      known.set(share, less)
    }
    return less
  })
}
// biome-ignore lint/suspicious/noExplicitAny: of each candidate's own kind
const likenings = new WeakMap<object, Map<number, any>>()

const toCandidate = (event: EventAbi): Candidate => ({ event, probability: REGISTRY_PROBABILITY })

type Entries<C> = (abi: OwnAbi) => [key: string, candidate: C][]

const eventsByTopic: Entries<Candidate> = ({ events, probability }) =>
  events.flatMap(event => (event.anonymous ? [] : [[topicOf(event), { event, probability }]]))

const functionsBySelector: Entries<FunctionCandidate> = ({ functions, probability }) =>
  functions.map(abi => [selectorOf(abi), { function: abi, probability }])

/** Address or code hash of an ABI, null if it is for all contracts. No address is a hash. */
export const holderOf = ({ address, codeHash = null }: OwnAbi): string | null => address ?? codeHash

/** ABIs for the contract come before ABIs for its code. */
const candidatesOfHolder = <T>({ address, codeHash }: Linked, byHolder: ReadonlyMap<string, T>): T[] => {
  const its = byHolder.get(address)
  const ofCode = codeHash === null ? undefined : byHolder.get(codeHash)
  return [...(its === undefined ? [] : [its]), ...(ofCode === undefined ? [] : [ofCode])]
}

const keysIn = (special: ReadonlyMap<string, ReadonlyMap<string, unknown>>): ReadonlySet<string> =>
  new Set([...special.values()].flatMap(byKey => [...byKey.keys()]))

/** Candidates by topic or selector: general ones, and special ones by address or code hash. */
const createIndexes = <C>(own: readonly OwnAbi[], entries: Entries<C>) => {
  const general = new Map<string, C[]>()
  const special = new Map<string, Map<string, C[]>>()
  for (const abi of own) {
    let index = general
    const holder = holderOf(abi)
    if (holder !== null) {
      index = special.get(holder) ?? new Map()
      special.set(holder, index)
    }
    for (const [key, candidate] of entries(abi)) {
      const list = index.get(key)
      if (list) list.push(candidate)
      else index.set(key, [candidate])
    }
  }
  return { general, special }
}

/** Caches candidates by topic and number of indexed arguments; ABIs come before guesses. */
const createVariants = (byTopic: ReadonlyMap<string, readonly Candidate[]>) => {
  const answers = new Map<string, readonly Candidate[]>()
  return (topic: string, indexed: number): readonly Candidate[] => {
    const candidates = byTopic.get(topic)
    if (!candidates) return NO_CANDIDATES
    const key = `${topic}${indexed}`
    let answer = answers.get(key)
    if (!answer) {
      const certain = candidates.filter(isCertain).filter(({ event }) => indexedIn(event) === indexed)
      const guesses = candidates.filter(isGuess).flatMap(candidate => variantsOf(candidate, indexed))
      answer = [...certain, ...guesses]
      answers.set(key, answer)
    }
    return answer
  }
}

const NO_CANDIDATES: readonly Candidate[] = []

const indexedIn = ({ inputs }: EventAbi): number => inputs.filter(input => input.indexed).length

const MAX_CHOICES = 40

/**
 * Guesses which arguments are indexed, as lists of signatures do not say. A choice among several
 * halves the probability: early arguments are indexed more often than later ones.
 */
const variantsOf = ({ event, probability }: Candidate, indexed: number): Candidate[] => {
  if (indexedIn(event) > 0) return indexedIn(event) === indexed ? [{ event, probability }] : []
  const choices = chooseIndexed(event.inputs.length, indexed)
  return choices.map(choice => ({
    event: {
      ...event,
      inputs: event.inputs.map((input, i) => (choice.includes(i) ? { ...input, indexed: true } : input)),
    },
    probability: choices.length === 1 ? probability : probability / 2,
  }))
}

/** The first ways to choose `count` of the numbers below `size`. */
const chooseIndexed = (size: number, count: number): number[][] => {
  const found: number[][] = []
  const take = (from: number, taken: number[]) => {
    if (found.length >= MAX_CHOICES) return
    if (taken.length === count) found.push(taken)
    else for (let i = from; i <= size - (count - taken.length); i++) take(i + 1, [...taken, i])
  }
  take(0, [])
  return found
}
