import type { Candidate, LogDecoderOptions } from './logs.ts'
import type { Registry } from './registry.ts'
import { topicOf } from './signature.ts'
import type { EventAbi } from './types.ts'

/** Declarations that the user gave. */
export interface OwnAbi {
  /** Lower-case `0x` address of the one contract that they hold for, or null for all. */
  address: string | null
  events: readonly EventAbi[]
}

/** How sure a declaration of the registry is: it fits the log in all its bytes, but another contract may mean something else by it. */
const REGISTRY_PROBABILITY = 0.9

/** What logs are decoded by: the user's declarations for that contract, those for all, then the registry's. */
export const createDeclarations = (
  registry: Registry,
  own: readonly OwnAbi[],
): Pick<LogDecoderOptions, 'find' | 'own'> => {
  const general = createIndex(own.filter(({ address }) => address === null))
  const special = new Map<string, ReturnType<typeof createIndex>>()
  for (const [address, abis] of Map.groupBy(own, ({ address }) => address))
    if (address !== null) special.set(address, createIndex(abis))

  return {
    find(topic, indexed) {
      const known = [...general(topic, indexed), ...registry.find(topic, indexed).map(toCandidate)]
      if (known.length > 0) return known
      const named = general(topic)[0]?.event ?? registry.named(topic)
      return named ? [toCandidate(named)] : []
    },
    ...(special.size > 0 && {
      own: (address: string, topic: string, indexed: number) =>
        special.get(address.toLowerCase())?.(topic, indexed) ?? [],
    }),
  }
}

const toCandidate = (event: EventAbi): Candidate => ({ event, probability: REGISTRY_PROBABILITY })

const createIndex = (abis: readonly OwnAbi[]) => {
  const byTopic = new Map<string, Candidate[]>()
  for (const { events } of abis)
    for (const event of events) {
      if (event.anonymous) continue
      const topic = topicOf(event)
      const list = byTopic.get(topic)
      if (list) list.push({ event, probability: 1 })
      else byTopic.set(topic, [{ event, probability: 1 }])
    }
  return (topic: string, indexed?: number): Candidate[] =>
    (byTopic.get(topic) ?? []).filter(
      ({ event }) => indexed === undefined || event.inputs.filter(input => input.indexed).length === indexed,
    )
}
