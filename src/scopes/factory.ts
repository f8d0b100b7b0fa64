import type { LogFilter } from '../chain/source.ts'
import type { RawBlock, RpcLog } from '../chain/wire.ts'
import { refuse } from '../lib/errors.ts'
import { keccakHex } from '../lib/keccak.ts'
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
  /** Position of the address in the event: topic (from 1) or data word (from 0). */
  place: { topic: number } | { word: number }
}

interface EventInput {
  type: string
  indexed: boolean
  name: string | undefined
}

interface ParsedEvent {
  topic: string
  inputs: readonly EventInput[]
}

const TOPIC = /^0x[0-9a-fA-F]{64}$/
const PARAMETER_NAME = /^[A-Za-z_$][\w$]*$/
const TYPE = /^(address|bool|string|function|bytes(\d{1,2})?|u?int(\d{1,3})?)((\[\d*\])*)$/
export const eventTopic = (text: string): string => (TOPIC.test(text) ? text.toLowerCase() : parseEvent(text).topic)
export const parseEvent = (text: string): ParsedEvent => {
  const match = /^\s*(?:event\s+)?([A-Za-z_$][\w$]*)\s*\((.*)\)\s*(?:anonymous)?\s*;?\s*$/s.exec(text)
  if (!match) throw badEvent(text, 'it is not a name with types in parentheses')
  const inputs = splitParameters(match[2]!, text).map(part => parseInput(part, text))
  return { topic: keccakHex(`${match[1]}(${inputs.map(({ type }) => type).join()})`), inputs }
}

const splitParameters = (list: string, text: string): string[] => {
  if (list.trim() === '') return []
  const parts = ['']
  let depth = 0
  for (const char of list) {
    if (char === '(') depth++
    if (char === ')' && --depth < 0) break
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  if (depth !== 0) throw badEvent(text, 'its parentheses do not match')
  return parts.map(part => part.trim())
}

const parseInput = (part: string, text: string): EventInput => {
  const tuple = /^(?:tuple\s*)?\((.*)\)((?:\[\d*\])*)\s*(.*)$/s.exec(part)
  const [type, rest] = tuple
    ? [`(${splitParameters(tuple[1]!, text).map(inner => parseInput(inner, text).type)})${tuple[2]}`, tuple[3]!]
    : splitType(part)
  if (!tuple && !TYPE.test(type)) throw badEvent(text, `${JSON.stringify(type)} is not a type`)
  const words = rest.split(/\s+/).filter(word => word !== '')
  const indexed = words[0] === 'indexed'
  const [name, ...more] = indexed ? words.slice(1) : words
  if (more.length > 0 || (name !== undefined && !PARAMETER_NAME.test(name)))
    throw badEvent(text, `${JSON.stringify(part)} is not a parameter`)
  return { type: type.replace(/^(u?int)(?!\d)/, '$1256'), indexed, name }
}

const splitType = (part: string): [type: string, rest: string] => {
  const at = part.search(/\s/)
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at)]
}

const badEvent = (text: string, why: string) =>
  refuse(
    'bad_event',
    `${JSON.stringify(text)} is not an event, since ${why}: write a declaration such as Transfer(address,address,uint256), or the first topic`,
  )
export const parameterPlace = (text: string, parameter: string): Factory['place'] => {
  const { inputs } = parseEvent(text)
  const at = /^\d{1,2}$/.test(parameter) ? Number(parameter) : inputs.findIndex(({ name }) => name === parameter)
  const input = inputs[at]
  if (!input)
    throw refuse(
      'bad_event',
      `${JSON.stringify(text)} has no parameter ${parameter}: name one of its parameters, or give its number from 0`,
    )
  if (input.type !== 'address')
    throw refuse('bad_event', `parameter ${parameter} of ${JSON.stringify(text)} is a ${input.type}, not an address`)
  const before = inputs.slice(0, at).filter(({ indexed }) => indexed === input.indexed)
  if (input.indexed) return { topic: before.length + 1 }
  if (before.some(({ type }) => /[[(]/.test(type) && !isDynamic(type)))
    throw refuse(
      'bad_event',
      `${JSON.stringify(text)} has a fixed array or a tuple before ${parameter}, which is not supported`,
    )
  return { word: before.length }
}

/** Whether a type is a dynamic array, which takes one word in the head. */
const isDynamic = (type: string): boolean => /\[\]$/.test(type)
