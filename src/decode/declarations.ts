import type { CallDecoderOptions } from './calls.ts'
import type { FunctionCandidate, Functions } from './functions.ts'
import type { Candidate, LogDecoderOptions } from './logs.ts'
import type { Registry } from './registry.ts'
import { type FunctionAbi, selectorOf, topicOf } from './signature.ts'
import type { EventAbi } from './types.ts'

/** Declarations that the user gave. */
export interface OwnAbi {
  /** Lower-case `0x` address of the one contract that they hold for, or null for all. */
  address: string | null
  /** 1 for an ABI; less for a list of signatures, which goes behind the registry and does not tell which arguments are indexed. */
  probability: number
  events: readonly EventAbi[]
  functions: readonly FunctionAbi[]
}

/** How sure a declaration of the registry is: it fits the log in all its bytes, but another contract may mean something else by it. */
const REGISTRY_PROBABILITY = 0.9

/** What logs are decoded by: the user's ABIs for that contract, those for all, the registry, then lists of signatures. */
export const createDeclarations = (
  registry: Registry,
  own: readonly OwnAbi[],
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

  const inSpecial = new Map([...special].map(([address, byTopic]) => [address, createVariants(byTopic, find)]))
  return { find, own: (address, topic, indexed) => inSpecial.get(address.toLowerCase())?.(topic, indexed) ?? [] }
}

/** What calls are decoded by, in the same order. */
export const createFunctionDeclarations = (
  registry: Pick<Functions, 'find'>,
  own: readonly OwnAbi[],
): CallDecoderOptions => {
  const { general, special } = createIndexes(own, functionsBySelector)

  const find = (selector: string): readonly FunctionCandidate[] => {
    const mine = general.get(selector)
    if (!mine) return registry.find(selector)
    return [...mine.filter(isCertain), ...registry.find(selector), ...mine.filter(isGuess)]
  }
  if (special.size === 0) return { find }

  return {
    find,
    own(to, selector) {
      const mine = special.get(to.toLowerCase())?.get(selector) ?? []
      if (mine.length === 0 || mine.some(isCertain)) return mine.filter(isCertain)
      return [...find(selector), ...mine]
    },
  }
}

const isCertain = ({ probability }: { probability: number }): boolean => probability === 1
const isGuess = ({ probability }: { probability: number }): boolean => probability < 1

const toCandidate = (event: EventAbi): Candidate => ({ event, probability: REGISTRY_PROBABILITY })

/** Keyed candidates of one ABI. */
type Entries<C> = (abi: OwnAbi) => [key: string, candidate: C][]

const eventsByTopic: Entries<Candidate> = ({ events, probability }) =>
  events.flatMap(event => (event.anonymous ? [] : [[topicOf(event), { event, probability }]]))

const functionsBySelector: Entries<FunctionCandidate> = ({ functions, probability }) =>
  functions.map(abi => [selectorOf(abi), { function: abi, probability }])

/** Candidates by topic or selector: those for all contracts, and those for one by its address. */
const createIndexes = <C>(own: readonly OwnAbi[], entries: Entries<C>) => {
  const general = new Map<string, C[]>()
  const special = new Map<string, Map<string, C[]>>()
  for (const abi of own) {
    let index = general
    if (abi.address !== null) {
      index = special.get(abi.address) ?? new Map()
      special.set(abi.address, index)
    }
    for (const [key, candidate] of entries(abi)) {
      const list = index.get(key)
      if (list) list.push(candidate)
      else index.set(key, [candidate])
    }
  }
  return { general, special }
}

/**
 * The candidates of a topic that have so many indexed arguments, ABIs before guesses; the same objects each time. What `before` finds
 * goes between them, where there are guesses.
 */
const createVariants = (
  byTopic: ReadonlyMap<string, readonly Candidate[]>,
  before?: (topic: string, indexed: number) => readonly Candidate[],
) => {
  const answers = new Map<string, readonly Candidate[]>()
  return (topic: string, indexed: number): readonly Candidate[] => {
    const candidates = byTopic.get(topic)
    if (!candidates) return NONE
    const key = `${topic}${indexed}`
    let answer = answers.get(key)
    if (!answer) {
      const certain = candidates.filter(isCertain).filter(({ event }) => indexedIn(event) === indexed)
      const guesses = candidates.filter(isGuess).flatMap(candidate => variantsOf(candidate, indexed))
      const between = guesses.length > 0 ? (before?.(topic, indexed) ?? NONE) : NONE
      answer = [...certain, ...between, ...guesses]
      answers.set(key, answer)
    }
    return answer
  }
}

const NONE: readonly Candidate[] = []

const indexedIn = ({ inputs }: EventAbi): number => inputs.filter(input => input.indexed).length

/** Choices of indexed arguments that are tried for one guess. */
const MOST_CHOICES = 40

/**
 * A list of signatures does not tell which arguments are indexed. Where there is a choice, a log may decode by several, and the one that is
 * taken is half as sure: the first arguments are indexed more often than later ones.
 */
const variantsOf = ({ event, probability }: Candidate, indexed: number): Candidate[] => {
  if (indexedIn(event) > 0) return indexedIn(event) === indexed ? [{ event, probability }] : []
  const choices = choose(event.inputs.length, indexed)
  return choices.map(choice => ({
    event: {
      ...event,
      inputs: event.inputs.map((input, i) => (choice.includes(i) ? { ...input, indexed: true } : input)),
    },
    probability: choices.length === 1 ? probability : probability / 2,
  }))
}

/** The first ways to take `count` of the numbers below `size`, in their order. */
const choose = (size: number, count: number): number[][] => {
  const found: number[][] = []
  const take = (from: number, taken: number[]) => {
    if (found.length >= MOST_CHOICES) return
    if (taken.length === count) found.push(taken)
    else for (let i = from; i <= size - (count - taken.length); i++) take(i + 1, [...taken, i])
  }
  take(0, [])
  return found
}
