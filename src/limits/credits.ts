/** Prices of node providers, and limits of an endpoint, both in the provider's own credits. */

export interface Prices {
  /** Source of the prices, as of November 2026. */
  source: string
  /** Hosts of the provider's endpoints. */
  hosts: RegExp
  /** Credits of a method that is not in `methods`. */
  other: number
  methods: Readonly<Record<string, number>>
  /** Credits that count towards the limit per second, if they differ from the price. */
  perSecond?: Readonly<Record<string, number>>
  /** Price factors by chain id. */
  chains?: ReadonlyMap<number, number>
}

/** All prices; `docs/nodes.md` is generated from them. */
export const PROVIDERS: ReadonlyMap<string, Prices> = new Map<string, Prices>([
  [
    'alchemy',
    {
      source: 'https://www.alchemy.com/docs/reference/compute-unit-costs',
      hosts: /(^|\.)(alchemy\.com|alchemyapi\.io)$/,
      other: 20,
      methods: {
        ...{ eth_chainId: 0, eth_blockNumber: 10, eth_getLogs: 60, eth_call: 26 },
        ...{ trace_block: 20, debug_traceBlockByNumber: 40 },
      },
      perSecond: { eth_getBlockReceipts: 500, debug_traceBlockByNumber: 1_000 },
    },
  ],
  [
    'infura',
    {
      source: 'https://docs.metamask.io/services/get-started/pricing/credit-cost',
      hosts: /(^|\.)infura\.io$/,
      other: 80,
      methods: {
        ...{ eth_chainId: 5, eth_getLogs: 255, eth_getBlockReceipts: 1_000 },
        ...{ trace_block: 300, debug_traceBlockByNumber: 1_000 },
      },
    },
  ],
  [
    'quicknode',
    {
      source: 'https://www.quicknode.com/api-credits',
      hosts: /(^|\.)quiknode\.pro$/,
      other: 20,
      methods: { trace_block: 40, debug_traceBlockByNumber: 40 },
      // Gnosis, zkSync and Scroll; Celo.
      chains: new Map([
        [100, 1.5],
        [324, 1.5],
        [534_352, 1.5],
        [42_220, 2],
      ]),
    },
  ],
  [
    'chainstack',
    {
      source: 'https://docs.chainstack.com/docs/request-units',
      hosts: /(^|\.)(chainstack\.com|p2pify\.com)$/,
      other: 1,
      // Methods that may read old blocks are charged as if they did.
      methods: {
        ...{ eth_getBlockByNumber: 2, eth_getBlockReceipts: 2, eth_getLogs: 2 },
        ...{ trace_block: 2, debug_traceBlockByNumber: 2 },
      },
    },
  ],
  [
    'ankr',
    {
      source: 'https://www.ankr.com/docs/rpc-service/pricing/',
      hosts: /^rpc\.ankr\.com$/,
      other: 200,
      methods: {},
    },
  ],
])

/** Limit of an endpoint in any second. */
export interface Rate {
  most: number
  of: 'calls' | 'credits'
}

/** Limits of an endpoint; absent ones are unlimited. */
export interface Allowance {
  rate?: Rate | undefined
  /** Credits per day, and per calendar month, in UTC. */
  daily?: number | undefined
  month?: number | undefined
  /** Prices of calls: provider names, `calls`, `auto` or `method=credits`; later ones win. */
  costs?: readonly string[] | undefined
}

/** Each call costs one credit. */
export const BY_CALLS = 'calls'
/** The prices of the host's provider, else `calls`. */
export const BY_HOST = 'auto'

/** Parses `method=credits`; `*` stands for all methods without a price. */
export const parsePrice = (text: string): [method: string, credits: number] | undefined => {
  const [, method, credits] = /^(\*|[A-Za-z]\w{0,63})=(\d{1,9}(?:\.\d{1,6})?)$/.exec(text) ?? []
  return method === undefined ? undefined : [method, Number(credits)]
}

export const isCosts = (text: string): boolean =>
  text === BY_CALLS || text === BY_HOST || PROVIDERS.has(text) || parsePrice(text) !== undefined
