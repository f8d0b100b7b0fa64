import { refuse } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest.ts'
import { KINDS, type Kind } from '../mapping/index.ts'

/** What a search or a get is about: `{network: 'ethereum/ethereum/mainnet', entities: 'block,tx'}`. */
export interface Target {
  network: string
  /** Comma-joined, each one once. */
  entities: string
}

/** Refuses a network that cannot be searched and an entity that is not known, as Elasticsearch does an index that is not there. */
export const findTarget = (network: string, entities: string, networks: readonly string[]): Target => {
  const index = `${network}/${entities}`
  checkNetwork(network, networks, index)
  const names = [...new Set(entities.split(',').map(name => name.trim()))]
  const unknown = names.find(name => !KINDS.includes(name as Kind))
  if (unknown !== undefined)
    throw notFound(
      index,
      `there is no entity ${JSON.stringify(unknown)}.${didYouMean(unknown, KINDS)} (known: ${KINDS.join(', ')})`,
    )
  return { network, entities: names.join(',') }
}

/** Refuses a network that cannot be searched. `index` is what was asked for, by its path. */
export const checkNetwork = (network: string, networks: readonly string[], index = network): void => {
  if (networks.includes(network)) return
  const known = networks.length === 0 ? 'none is configured' : `known: ${networks.join(', ')}`
  throw notFound(index, `there is no network ${network}.${didYouMean(network, networks)} (${known})`)
}

const notFound = (index: string, why: string) =>
  refuse('index_not_found_exception', `no such index [${index.replaceAll('/', '-')}]: ${why}`)
