import type { ChainSource } from '../../chain/source.ts'
import type { RawBlock } from '../../chain/wire.ts'
import { createAbiFinder, createCodeReader } from '../../decode/abi-finder.ts'
import { boundKeys, createFunctionDeclarations, holderOf, type LinksOf } from '../../decode/declarations.ts'
import { createDecoding } from '../../decode/decoding.ts'
import { openFunctions } from '../../decode/functions.ts'
import { createRegistry, createTokenList, parseRegistry, parseTokens } from '../../decode/registry.ts'
import { createErrors } from '../../decode/reverts.ts'
import { createStoredDictionaries, type StoredDictionaries } from '../../engine/dictionary-reader.ts'
import type { Lookups } from '../../engine/port.ts'
import type { Log } from '../../lib/log.ts'
import { readAsset, readTextAsset } from '../../lib/runtime.ts'
import type { Db } from '../../sqlite/database.ts'
import { createChainContracts } from '../contracts/contracts.ts'
import { createProxyResolver } from '../contracts/proxy-resolver.ts'
import { createSimilarity } from '../contracts/similar-abi.ts'
import { createChainTokens } from '../contracts/tokens.ts'
import type { Work } from '../job-context.ts'
import { type IndexerData, MOST_YOUNG_MB_OF_BUILDER, YOUNG_MB_BY_JOB } from '../messages.ts'
import { abiVersion, createAbiWatch } from './abi-files.ts'
import { type Builders, createBuilders } from './builders/pool.ts'
import { createAddressFilter, createDictionaries } from './dictionaries.ts'
import { createPreparer } from './prepare.ts'
import { ownDictionaries, type Room } from './shared/dictionaries.ts'

export const openSignatures = () => ({
  registry: createRegistry(parseRegistry(readTextAsset('events.txt'))),
  functions: openFunctions(readAsset('functions.bin')),
  errors: createErrors(readTextAsset('errors.txt')),
  list: createTokenList([
    ...parseTokens(readTextAsset('tokens.txt')),
    ...parseTokens(readTextAsset('demo-tokens.txt')),
  ]),
})

/** Most contracts that emit are no stored tokens: a filter saves their look-up. */
export const openStoredTokens = (stored: StoredDictionaries, find: Lookups['token']) => {
  const { count, addresses } = stored.tokens()
  const filter = createAddressFilter(count, addresses)
  return {
    stored: (address: string) => (filter.mayHave(address) ? find(address) : undefined),
    onKnown: filter.add,
  }
}

export const openDecoding = (
  data: IndexerData,
  db: Db,
  lookups: Lookups,
  chainId: number | undefined,
  source: ChainSource | undefined,
  log: Log,
) => {
  const { registry, functions, errors, list } = openSignatures()
  const few = data.job.type === 'follow' || data.job.type === 'watch' ? FEW_ADDRESSES : undefined
  const known = createStoredDictionaries(db)
  const shared = sharesWork(data) ? ownDictionaries(known, roomOf(data), few) : undefined
  const tokens = createChainTokens({
    listed: address => (chainId === undefined ? undefined : list.find(chainId, `0x${address}`)),
    ...openStoredTokens(known, lookups.token),
    call: source?.call,
    log,
  })
  const likeness = createSimilarity(lookups.features)
  const linksOf: LinksOf = (address, at, selector) => links.of(address, at, selector)
  const decoding = createAbiWatch({ folder: data.abis, network: data.network, log }, own => {
    const called = createFunctionDeclarations(functions, own, linksOf)
    return {
      ...createDecoding(registry, functions, errors, own, linksOf),
      abiOf: createAbiFinder(own, selector => called.find(selector).length > 0, linksOf, likeness.nearest),
      keys: boundKeys(own),
      version: abiVersion(own),
      holders: own.flatMap(abi => holderOf(abi) ?? []),
    }
  })
  let current = decoding()
  const read = createCodeReader()
  const readCode = (text: string) => {
    const code = read(text)
    if (code) likeness.note(code)
    return code
  }
  const contracts = createChainContracts({
    state: source?.state,
    readCode,
    abiOf: (contract, at) => current.abiOf(contract, at),
    implementationOf: (address, at) => links.implementationOf(address, at),
    log,
  })
  const links = createProxyResolver({
    state: source?.state,
    call: source?.call,
    readCode,
    stored: lookups,
    keys: () => decoding().keys,
    holders: () => decoding().holders,
    likeness,
    created: contracts.in,
    log,
  })
  const preparer = createPreparer({
    db,
    decoding: () => current,
    tokens,
    contracts,
    links,
    traces: 'node' in data.job && data.job.node.traces === 'calls' ? 'calls' : 'all',
    chainId,
    bloomsChecked: !('node' in data.job) || data.job.node.bloom !== false,
    dictionaries: shared ?? createDictionaries(known, few),
  })
  return {
    tokens,
    contracts,
    links,
    decoding,
    dictionaries: shared,
    preparer: {
      ...preparer,
      // All of a block is decoded by the same ABIs.
      decode(raw: RawBlock) {
        current = decoding()
        return preparer.decode(raw)
      },
    },
  }
}

export type OpenDecoding = ReturnType<typeof openDecoding>

const sharesWork = ({ job, indexers }: Pick<IndexerData, 'job' | 'indexers'>): boolean =>
  indexers > 1 && !WITHOUT_BLOCKS.has(job.type)
const WITHOUT_BLOCKS: ReadonlySet<IndexerData['job']['type']> = new Set(['watch', 'narrow', 'forget', 'move'])
/** Addresses whose ids a server's thread remembers: it has no memory to spare. */
const FEW_ADDRESSES = 50_000
export const roomOf = ({ job, sharing }: Pick<IndexerData, 'job' | 'sharing'>): Room =>
  sharing.room ?? (job.type === 'follow' ? { addresses: 1 << 18 } : {})
export const startBuilders = (work: Work): Builders | undefined => {
  const { job, indexers, network, store, abis, chainId, limits, dictionaries } = work
  if (!dictionaries) return undefined
  const node = 'node' in job ? job.node : undefined
  return createBuilders(indexers, {
    network,
    store,
    abis,
    chainId,
    limits,
    memory: dictionaries.memory,
    bloom: node?.bloom !== false,
    traces: node?.traces === 'calls' ? 'calls' : 'all',
    youngMb: Math.min(MOST_YOUNG_MB_OF_BUILDER, YOUNG_MB_BY_JOB[job.type]),
    yields: job.type === 'follow',
  })
}

/** Empties the shared dictionaries, once all is stored. Nobody must begin to build meanwhile. */
export const makeRoom = async ({ pipeline, dictionaries }: Work, builders?: Builders) => {
  await builders?.idle()
  await pipeline.rest(() => {
    // Decoding again may have added something that is not stored yet: then this is tried again.
    if (pipeline.isSettled()) dictionaries?.reset()
  })
}
