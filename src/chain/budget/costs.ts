import { type Allowance, BY_CALLS, BY_HOST, PROVIDERS, type Prices, parsePrice } from '../../limits/credits.ts'

/** Each call costs the same. */
const CALLS: Pick<Prices, 'other' | 'methods' | 'perSecond' | 'chains'> = { other: 1, methods: {} }

export type Costs = ReturnType<typeof createCosts>

/** What calls of an endpoint cost. */
export const createCosts = (entries: Allowance['costs'] = [], host = '') => {
  let name = providerOf(host)
  const own = new Map<string, number>()
  for (const entry of entries) {
    const price = parsePrice(entry)
    if (price) own.set(...price)
    else name = entry === BY_HOST ? providerOf(host) : entry
  }
  const { methods, perSecond = {}, other, chains } = PROVIDERS.get(name) ?? CALLS
  const sum = (
    called: readonly string[],
    chainId: number | undefined,
    tables: readonly Readonly<Record<string, number>>[],
  ) => {
    const factor = (chainId === undefined ? undefined : chains?.get(chainId)) ?? 1
    let credits = 0
    for (const method of called) {
      const table = tables.find(it => Object.hasOwn(it, method))
      credits += own.get(method) ?? (table ? table[method]! : (own.get('*') ?? other)) * factor
    }
    return credits
  }
  return {
    /** Whose prices they are, for the status. */
    name: own.size > 0 ? `${name}, changed` : name,
    /** Credits that calls are charged with. */
    credits: (called: readonly string[], chainId: number | undefined): number => sum(called, chainId, [methods]),
    /** Credits that they count in the sum of a second. */
    perSecond: (called: readonly string[], chainId: number | undefined): number =>
      sum(called, chainId, [perSecond, methods]),
  }
}

const providerOf = (host: string): string => {
  for (const [name, { hosts }] of PROVIDERS) if (hosts.test(host)) return name
  return BY_CALLS
}
