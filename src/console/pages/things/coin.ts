/** Every EVM chain counts its coin in 10^-18. */
export const COIN_DECIMALS = 18
export const GWEI_DECIMALS = 9

/** The coin's symbol, where the network's name says it. */
export const coinOf = (network: string): string | undefined => COINS.get(network.split('/')[1] ?? '')

const COINS: ReadonlyMap<string, string> = new Map([
  ['ethereum', 'ETH'],
  ['demo', 'ETH'],
  ['anvil', 'ETH'],
  ['optimism', 'ETH'],
  ['arbitrum', 'ETH'],
  ['base', 'ETH'],
  ['gnosis', 'xDAI'],
  ['polygon', 'POL'],
  ['avalanche', 'AVAX'],
  ['bsc', 'BNB'],
])
