import type { LogFilter } from '../chain/logs/scoped-source.ts'
import type { RawBlock, RpcLog } from '../chain/wire.ts'
import { filterFor } from './filter.ts'
import type { Factory, Scope } from './scope.ts'

/** An address that an event of a factory names. */
export interface NamedChild {
  /** The factory as text: see `textOfFactory`. */
  factory: string
  address: string
  /** Block of the event. */
  number: number
}

/** Also the text of the filter that finds its events: what covers these. */
export const textOfFactory = ({ addresses, topic, place }: Factory): string =>
  JSON.stringify([addresses, [topic], place])

/** What finds the events of a factory. */
export const filterOfFactory = ({ addresses, topic }: Factory): LogFilter => filterFor(addresses, [topic])

/** The addresses that events of factories in a block name. */
export const childrenIn = ({ block, receipts }: RawBlock, factories: readonly Factory[]): NamedChild[] =>
  factories.flatMap(factory => {
    const text = textOfFactory(factory)
    const emitters = new Set(factory.addresses)
    return receipts.flatMap(({ logs }) =>
      logs.flatMap(log => {
        if (!emitters.has(log.address.toLowerCase()) || log.topics[0]?.toLowerCase() !== factory.topic) return []
        const address = addressAt(log, factory.place)
        return address === undefined ? [] : [{ factory: text, address, number: Number(block.number) }]
      }),
    )
  })

const addressAt = ({ topics, data }: RpcLog, place: Factory['place']): string | undefined => {
  const word = 'topic' in place ? topics[place.topic]?.slice(2) : data.slice(2 + place.word * 64, 66 + place.word * 64)
  return word?.length === 64 && /^0{24}/.test(word) ? `0x${word.slice(24).toLowerCase()}` : undefined
}

/** What a scope asks for of chosen contracts; undefined where it has a factory alone. */
export const filterOfScope = ({ addresses, topics, factory }: Scope): LogFilter | undefined =>
  factory && addresses.length === 0 ? undefined : filterFor(addresses, topics)
