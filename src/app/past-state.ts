import type { StateHistory } from '../back-test/readings.ts'
import { type Config, nodeOptions } from '../config/index.ts'
import type { Indexing } from '../ingest/network.ts'
import { openPastState } from '../ingest/past-state.ts'
import { memoize } from '../lib/caches.ts'
import { silent } from '../lib/log.ts'
import type { Run } from '../lib/shutdown.ts'

/** Reads state at stored blocks of a network; a sentence says why it cannot. */
export type PastState = (network: string) => StateHistory['read'] | string

/** By the threads that follow the networks of a server. */
export const serverPastState =
  ({ networks }: Pick<Config, 'networks'>, indexings: readonly Indexing[]): PastState =>
  network =>
    ofScopes(networks, network) ??
    indexings.find(it => it.network === network)?.pastStateAt ??
    `This server has no node of ${network} to read its state from: start it with --network ${network} --rpc URL.`

/** By the nodes that a command is given. */
export const commandPastState = (config: Config, { shutdown }: Pick<Run, 'shutdown'>): PastState => {
  const { data, networks, limits } = config
  // Once for each network: a command may test many rules.
  return memoize(Number.POSITIVE_INFINITY, network => {
    const named = networks.find(it => it.network === network)
    if (!named || named.rpc.length === 0)
      return `The state of ${network} is read from a node: add --network ${network} --rpc URL or a config file, or ask a server that follows it, by POST /alerting/rules/simulate/.`
    const refused = ofScopes(networks, network)
    if (refused !== undefined) return refused
    const { read, close } = openPastState({ data, network, node: nodeOptions(named), limits, log: silent })
    shutdown.add(`node of ${network}`, close)
    return read
  })
}

const ofScopes = (networks: Config['networks'], network: string): string | undefined =>
  networks.find(it => it.network === network)?.scoping &&
  `${network} stores chosen contracts only, and networks of scopes read no state.`
