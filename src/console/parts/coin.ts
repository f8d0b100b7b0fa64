import { CHAINS } from '../../config/chains.ts'

/** Every EVM chain counts its coin in 10^-18. */
export const COIN_DECIMALS = 18
export const GWEI_DECIMALS = 9

/** The coin's symbol, where the name of the network says which chain it is. */
export const coinOf = (network: string): string | undefined => COINS.get(network.split('/')[1] ?? '')

/** By the second part of a network's name. */
const COINS: ReadonlyMap<string, string> = new Map([
  ['demo', 'ETH'],
  ['anvil', 'ETH'],
  ...[...CHAINS.values()].map(({ network, symbol }) => [network.split('/')[1]!, symbol] as const),
])
