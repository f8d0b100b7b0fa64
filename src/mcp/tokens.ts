import { refuse } from '../lib/errors.ts'
import { type AgentSession, type FoundHit, searchIn } from './ask.ts'
import { showText, type TokenUnits } from './show.ts'

/** `token:DUSD`, alone or quoted in a query, stands for the address of the only token with that symbol. */
const BY_SYMBOL = /^token:([^"]{1,64})$|"token:([^"]{1,64})"/g
const MAX_SYMBOLS = 10
const MAX_SAME = 20

const symbolsIn = (value: unknown, found = new Set<string>()): ReadonlySet<string> => {
  if (typeof value === 'string') {
    for (const [, alone, quoted] of value.matchAll(BY_SYMBOL)) found.add((alone ?? quoted)!)
  } else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) symbolsIn(one, found)
  return found
}

/** Replaces symbols of tokens by addresses, and says by which. A symbol of several tokens is refused. */
export const resolveTokens = async <T>(
  session: AgentSession,
  network: string,
  value: T,
): Promise<{ value: T; resolved: Record<string, string> }> => {
  const symbols = [...symbolsIn(value)]
  if (symbols.length === 0) return { value, resolved: {} }
  if (symbols.length > MAX_SYMBOLS) throw refuse('too_many_tokens', `Name at most ${MAX_SYMBOLS} tokens by symbol.`)
  const { hits } = await searchIn(session, network, 'token', {
    query: { terms: { 'symbol.raw': symbols } },
    size: MAX_SAME * symbols.length,
    _source: ['address', 'symbol', 'name'],
  })
  const resolved: Record<string, string> = {}
  for (const symbol of symbols) {
    const same = hits.filter(({ _source }) => _source.symbol === symbol)
    const [one, other] = same
    if (!one)
      throw refuse(
        'unknown_token',
        `No token on ${network} has the symbol ${JSON.stringify(symbol)}: search the entity token.`,
      )
    if (other)
      throw refuse(
        'several_tokens',
        `Several tokens have the symbol ${JSON.stringify(symbol)}: use an address, one of ${same.map(describeToken).join(', ')}.`,
      )
    resolved[`token:${symbol}`] = String(one._source.address)
  }
  return { value: withAddresses(value, resolved) as T, resolved }
}

const describeToken = ({ _source: { address, name } }: FoundHit): string =>
  typeof name === 'string' ? `${String(address)} (${showText(name)})` : String(address)

const withAddresses = (value: unknown, by: Readonly<Record<string, string>>): unknown => {
  if (typeof value === 'string')
    return value.replace(BY_SYMBOL, (all, alone?: string, quoted?: string) => by[`token:${alone ?? quoted}`] ?? all)
  if (Array.isArray(value)) return value.map(one => withAddresses(one, by))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withAddresses(one, by)]))
}

/** Symbols and decimals of the tokens among some addresses. */
export const tokensAmong = async (
  session: AgentSession,
  network: string,
  addresses: Iterable<unknown>,
): Promise<Map<string, TokenUnits>> => {
  const values = [...new Set([...addresses].filter(isAddressText).map(address => address.toLowerCase()))]
  if (values.length === 0) return new Map()
  const { hits } = await searchIn(session, network, 'token', {
    query: { ids: { values } },
    size: values.length,
    _source: ['symbol', 'decimals'],
  })
  return new Map(hits.map(({ _id, _source }) => [_id.toLowerCase(), factsOf(_source)]))
}

export const factsOf = ({ symbol, decimals }: Record<string, unknown>): TokenUnits => ({
  symbol: typeof symbol === 'string' && symbol !== '' ? symbol : undefined,
  decimals: typeof decimals === 'string' ? Number(decimals) : undefined,
})

export const isAddressText = (value: unknown): value is string =>
  typeof value === 'string' && /^0x[0-9a-f]{40}$/i.test(value)
