import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Context } from '../context.ts'

/** The network that the path names, where it is one that can be searched. */
export const networkOf = (c: Context, networks: readonly string[]): string => {
  const { technology, blockchain, network } = c.req.param() as Record<string, string>
  const name = `${technology}/${blockchain}/${network}`
  if (networks.includes(name)) return name
  const known = networks.length === 0 ? 'none is configured' : `known: ${networks.join(', ')}`
  throw notFound(c, `there is no network ${name}.${didYouMean(name, networks)} (${known})`)
}

/** The entities of a comma-joined list, each one once. */
export const entitiesOf = (c: Context, list: string): string => {
  const names = [...new Set(list.split(',').map(name => name.trim()))]
  for (const name of names) {
    if (!KINDS.includes(name as Kind))
      throw notFound(
        c,
        `there is no entity ${JSON.stringify(name)}.${didYouMean(name, KINDS)} (known: ${KINDS.join(', ')})`,
      )
  }
  return names.join(',')
}

const notFound = (c: Context, why: string) => {
  const { technology, blockchain, network, entity } = c.req.param() as Record<string, string>
  return refuse('index_not_found_exception', `no such index [${technology}-${blockchain}-${network}-${entity}]: ${why}`)
}
