import type { LogFilter } from '../chain/source.ts'
import type { RawBlock, RpcLog } from '../chain/wire.ts'
import { filterFor } from './filter.ts'

interface NamedChild {
  factory: string
  address: string
  number: number
}

/** Also the text of the filter that finds its events: what covers these. */
export const textOfFactory = ({ addresses, topic, place }: Factory): string =>
  JSON.stringify([addresses, [topic], place])

export const filterOfFactory = ({ addresses, topic }: Factory): LogFilter => filterFor(addresses, [topic])

export const childrenIn = ({ block, receipts }: RawBlock, factories: readonly Factory[]): NamedChild[] =>
  factories.flatMap(factory => {
    const text = textOfFactory(factory)
    const emitters = new Set(factory.addresses)
    return receipts.flatMap(({ logs }) =>
      logs.flatMap(log => {
        if (!emitters.has(log.address.toLowerCase()) || log.topics[0]?.toLowerCase() !== factory.topic) return []
        const address = namedAddress(log, factory.place)
        return address === undefined ? [] : [{ factory: text, address, number: Number(block.number) }]
      }),
    )
  })

const namedAddress = ({ topics, data }: RpcLog, place: Factory['place']): string | undefined => {
  const word = 'topic' in place ? topics[place.topic]?.slice(2) : data.slice(2 + place.word * 64, 66 + place.word * 64)
  return word?.length === 64 && /^0{24}/.test(word) ? `0x${word.slice(24).toLowerCase()}` : undefined
}

export const filterOfScope = ({ addresses, topics, factory }: ChainScope): LogFilter | undefined =>
  factory && addresses.length === 0 ? undefined : filterFor(addresses, topics)

/** A log is wanted if one of a network's scopes fits it. */
export interface ChainScope extends LogFilter {
  /** Addresses that events of this contract name are wanted, each from its event on. */
  factory: Factory | undefined
  transactions?: Transactions | undefined
  from: number
  to: number | undefined
}

/** Below the head: by nodes that can search, or by reading each block. */
export type Transactions = 'search' | 'read-blocks'

export interface Factory {
  /** Lower-case addresses of the contracts that name others, sorted. */
  addresses: readonly string[]
  topic: string
  /** Where in the event the address stands: in a topic (from 1), or in a word of the data (from 0). */
  place: { topic: number } | { word: number }
}
