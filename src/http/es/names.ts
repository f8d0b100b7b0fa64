import { refuse } from '../../lib/errors.ts'
import type { Limits } from '../../limits/index.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import {
  createNameCounter,
  eachOf,
  findTarget,
  type IndexOptions,
  indexOf,
  type NameCounter,
  type Target,
} from '../../search/index-names.ts'
import type { Call } from './endpoint.ts'
import { isOn, namesIn } from './parameters.ts'

/** The names that one request lists: they are counted together, and each list is looked up once. */
export interface Names {
  count: NameCounter
  /** Those in a text with commas between them, each once. */
  listed(text: string): string[]
  /** What names of indexes mean in the networks of the path. */
  target(network: string, expression: string, networks: readonly string[], options: IndexOptions): Target
}

export const createNames = (limits: Limits): Names => {
  const count = createNameCounter(limits)
  const targets = new Map<string, () => Target>()
  return {
    count,
    listed(text) {
      const names = [...new Set(namesIn(text))]
      count(names)
      return names
    },
    target(network, expression, networks, options) {
      const key = JSON.stringify([expression, options])
      let found = targets.get(key)
      if (!found) {
        found = outcomeOf(() => findTarget(network, expression, networks, { ...options, counted: count }))
        targets.set(key, found)
      }
      return found()
    },
  }
}

/** What came of it: a value, or an error to be thrown. */
const outcomeOf = <T>(work: () => T): (() => T) => {
  try {
    const value = work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** What the names of indexes in the path mean, all kinds where there is none. */
export const targetOf = (call: Call, expression = call.path.get('index') ?? '_all'): Target => {
  const { network, service, path, parameters, names } = call
  const types = path.get('type') ?? parameters.get('type')
  return names.target(network, expression, service.networks(network), {
    ignoreUnavailable: isOn(call, 'ignore_unavailable'),
    allowNoIndices: parameters.get('allow_no_indices') !== 'false',
    types: types === undefined || types === '' ? undefined : namesIn(types),
  })
}

export const kindsOf = (call: Call): Kind[] => {
  const { entities } = targetOf(call)
  return KINDS.filter(kind => entities.split(',').includes(kind))
}

/** The one kind that a document's path names. */
export const kindOf = (call: Call): Kind => {
  const { entities } = targetOf(call)
  const [kind, ...more] = entities.split(',')
  if (kind && more.length === 0) return kind as Kind
  throw refuse(
    'illegal_argument_exception',
    `A document belongs to one entity, not to [${entities}]: to look in several, search for ids.`,
  )
}

export const indexName = ({ network }: Pick<Call, 'network'>, kind: Kind): string => `${indexOf(network)}-${kind}`

/** Those of some kinds, in all networks that are asked. */
export const indexNames = (call: Call, kinds: readonly Kind[]): string[] =>
  eachOf(targetOf(call).network).flatMap(network => kinds.map(kind => indexName({ network }, kind)))

/** Other names of a kind's index. */
export const aliasesOf = ({ network }: Pick<Call, 'network'>, kind: Kind): string[] => [kind, indexOf(network)].sort()

/** Something of each index by its name. */
export const byIndex = <T>(call: Call, make: (kind: Kind) => T): Record<string, T> => {
  const { network, entities } = targetOf(call)
  const kinds = KINDS.filter(kind => entities.split(',').includes(kind))
  return Object.fromEntries(
    eachOf(network).flatMap(one => kinds.map(kind => [indexName({ network: one }, kind), make(kind)])),
  )
}
