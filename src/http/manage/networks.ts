import { refuse } from '../../lib/errors.ts'
import { didYouMean } from '../../lib/nearest.ts'
import { cut } from '../../query/cut.ts'
import type { Management } from './service.ts'

/** Refuses what is no network of this server. */
export const checkNetwork = (network: string, management: Pick<Management, 'networks'>): void => {
  const known = management.networks().map(it => it.network)
  if (known.includes(network)) return
  throw refuse(
    'index_not_found_exception',
    `There is no network ${cut(JSON.stringify(network))} here.${didYouMean(cut(network), known)} GET /account lists the networks.`,
  )
}
