import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checksumAddress } from '../../src/lib/keccak.ts'
import { fetchNpm } from './fetch.ts'

/** Lists of tokens under permissive licences; earlier ones win where symbols differ. */
export const tokenPackages = [
  { name: '@metamask/contract-metadata', version: '2.5.0', licence: 'ISC', read: readMetamask },
  { name: '@bgd-labs/aave-address-book', version: '4.44.22', licence: 'MIT', read: readList('tokenlist.json') },
  { name: 'sushi', version: '7.3.15', licence: 'MIT', read: readSushi },
  {
    name: '@superfluid-finance/tokenlist',
    version: '5.38.0',
    licence: 'MIT',
    read: readList('dist/superfluid.extended.tokenlist.json'),
  },
] as const

export interface Token {
  chainId: number
  address: string
  decimals: number
  symbol: string
}

/**
 * All tokens, by chain and address. One whose decimals are told differently is left out: its contract is asked instead.
 */
export function collectTokens(cache: string): Token[] {
  const found = new Map<string, Token>()
  const disputed = new Set<string>()
  for (const { name, version, read } of tokenPackages) {
    for (const token of read(fetchNpm(cache, { name, version }))) {
      if (!/^0x[0-9a-fA-F]{40}$/.test(token.address) || !(token.decimals >= 0 && token.decimals <= 255)) continue
      const address = checksumAddress(token.address)
      const key = `${token.chainId} ${address}`
      const known = found.get(key)
      if (known !== undefined && known.decimals !== token.decimals) disputed.add(key)
      // A symbol is the last word of a line; one with blanks or none at all would not be.
      const symbol = token.symbol.trim().replace(/\s+/g, '_') || '?'
      if (known === undefined) found.set(key, { ...token, address, symbol })
    }
  }
  for (const key of disputed) {
    console.log(`left out, decimals disputed: ${key} ${found.get(key)!.symbol}`)
    found.delete(key)
  }
  return [...found.values()].sort(
    (a, b) => a.chainId - b.chainId || (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1),
  )
}

function readMetamask(folder: string): Token[] {
  const map: Record<string, { erc20?: boolean; decimals: number; symbol: string }> = readJson(
    join(folder, 'contract-map.json'),
  )
  return Object.entries(map)
    .filter(([, token]) => token.erc20 === true)
    .map(([address, { decimals, symbol }]) => ({ chainId: 1, address, decimals, symbol }))
}

function readList(file: string) {
  return (folder: string): Token[] =>
    readJson<{ tokens: Token[] }>(join(folder, file)).tokens.map(({ chainId, address, decimals, symbol }) => ({
      chainId,
      address,
      decimals,
      symbol,
    }))
}

/** Reads the package's modules as text: maps of address by chain, and what is said of the tokens in such a map. */
function readSushi(folder: string): Token[] {
  const root = join(folder, '_esm/evm/config/tokens/tokens')
  const tokens: Token[] = []
  for (const file of (readdirSync(root, { recursive: true }) as string[]).filter(name => name.endsWith('.js')).sort()) {
    const text = readFileSync(join(root, file), 'utf8')
    const maps = new Map<string, Map<string, string>>()
    for (const [, name, body] of text.matchAll(/export const (\w+) = \{\n((?:\s*\[EvmChainId\.[^\n]*\n)*)/g)) {
      const entries = [...body!.matchAll(/\[EvmChainId\.(\w+)\]: '(0x[0-9a-fA-F]{40})'/g)]
      maps.set(name!, new Map(entries.map(([, chain, address]) => [chain!, address!])))
    }
    const add = (map: string, chain: string, decimals: string, symbol: string) => {
      const chainId = chainIds[chain]
      const address = maps.get(map)?.get(chain)
      if (chainId !== undefined && address !== undefined) tokens.push({ chainId, address, decimals: +decimals, symbol })
    }
    // What one token says of itself stands above what is said of the whole map.
    const single = new Set<string>()
    for (const [, map, chain, decimals, symbol] of text.matchAll(
      /new EvmToken\(\{\s*chainId: [^,]+,\s*address: (\w+)\[EvmChainId\.(\w+)\],\s*decimals: (\d+),\s*symbol: '([^']*)'/g,
    )) {
      single.add(`${map} ${chain}`)
      add(map!, chain!, decimals!, symbol!)
    }
    for (const [, decimals, symbol, map] of text.matchAll(
      /addressMapToTokenMap\(\{\s*decimals: (\d+),\s*symbol: '([^']*)',[^}]*\}, (\w+)\)/g,
    )) {
      for (const chain of maps.get(map!)?.keys() ?? []) {
        if (!single.has(`${map} ${chain}`)) add(map!, chain, decimals!, symbol!)
      }
    }
  }
  return tokens
}

const chainIds: Record<string, number> = {
  ETHEREUM: 1,
  OPTIMISM: 10,
  BSC: 56,
  GNOSIS: 100,
  POLYGON: 137,
  SONIC: 146,
  FANTOM: 250,
  ZKSYNC_ERA: 324,
  METIS: 1088,
  POLYGON_ZKEVM: 1101,
  MANTLE: 5000,
  BASE: 8453,
  ARBITRUM: 42161,
  ARBITRUM_NOVA: 42170,
  CELO: 42220,
  AVALANCHE: 43114,
  LINEA: 59144,
  BLAST: 81457,
  SCROLL: 534352,
  SEPOLIA: 11155111,
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
