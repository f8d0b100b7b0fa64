import { createLinkLookups } from '../../engine/dictionary-reader.ts'
import { readStore } from '../../engine/open.ts'
import type { AbiShelf } from '../../http/manage/routes.ts'
import type { AbiOfAddress } from '../../http/shapes/management.ts'
import type { Pool } from '../../search/pool.ts'

interface AbiOfOptions {
  pool: Pick<Pool, 'get'>
  /** File of a network's store; undefined if nothing is stored. */
  storeOf(network: string): string | undefined
  shelf: AbiShelf
}

/** A contract whose code runs, directly or behind a proxy. */
interface RunningCode {
  address: string
  codeHash: string | null
  /** Proxy address; null for the contract itself. */
  through: string | null
}

/** Maximum depth of proxies of proxies. */
const MAX_STEPS = 4
const MAX_CONTRACTS = 300

/** Finds the ABIs of a contract by priority: address, code, implementation, general ones. */
export const createAbiOf =
  ({ pool, storeOf, shelf }: AbiOfOptions) =>
  async (network: string, address: string, asking: { account: number; signal: AbortSignal }): Promise<AbiOfAddress> => {
    const store = storeOf(network)
    const runs = store === undefined ? [{ address, codeHash: null, through: null }] : runsOf(store, address)
    const contract = store === undefined ? undefined : await contractAt(pool, network, address, asking)
    const all = await shelf.list({ network })
    const own = (run: RunningCode, by: 'address' | 'codeHash') =>
      all
        .filter(abi => abi[by] !== null && abi[by] === run[by])
        .map((abi): Decoder => ({ ...abi, source: run.through === null ? by : 'implementation', of: run.address }))
    const given = runs.flatMap(run => [...own(run, 'address'), ...own(run, 'codeHash')])
    const general = all
      .filter(abi => abi.address === null && abi.codeHash === null)
      .map((abi): Decoder => ({ ...abi, source: 'any', of: null }))
    const [first] = given
    return {
      ...{ network, address },
      source: (first?.source as AbiOfAddress['source'] | undefined) ?? contract?.abi?.source ?? null,
      name: first?.name ?? contract?.name ?? null,
      probability: first?.probability ?? contract?.probability ?? null,
      codeHash: runs[0]!.codeHash ?? contract?.codeHash ?? null,
      implementations: runs
        .slice(1)
        .map(run => ({ address: run.address, codeHash: run.codeHash, through: run.through })),
      abis: [...given, ...general],
    }
  }

/** The contract itself, then contracts whose code it runs at the head, nearest first. */
const runsOf = (store: string, address: string): RunningCode[] =>
  readStore(store, db => {
    const { link, upgrades } = createLinkLookups(db)
    const runs: RunningCode[] = [{ address, codeHash: link(address)?.codeHash ?? null, through: null }]
    let open = [address]
    for (let step = 0; step < MAX_STEPS && open.length > 0 && runs.length < MAX_CONTRACTS; step++) {
      const next = open.flatMap(through => {
        const delegation = link(through)?.delegation
        const upgrade = upgrades(through).at(-1)?.implementation
        const targets = delegation?.targets.map(it => it.address) ?? []
        const runsNow = upgrade != null && delegation?.kind !== 'diamond' ? [upgrade] : targets
        return runsNow.map((address): RunningCode => ({ address, codeHash: link(address)?.codeHash ?? null, through }))
      })
      const fresh = next.filter(run => !runs.some(it => it.address === run.address)).slice(0, MAX_CONTRACTS)
      runs.push(...fresh)
      open = fresh.map(run => run.address)
    }
    return runs
  })

type Decoder = AbiOfAddress['abis'][number]

interface ContractSource {
  name?: string | null
  codeHash?: string | null
  probability?: number | null
  abi?: { source: AbiOfAddress['source'] } | null
}

const contractAt = async (
  pool: Pick<Pool, 'get'>,
  network: string,
  address: string,
  asking: { account: number; signal: AbortSignal },
): Promise<ContractSource | undefined> => {
  const { status, body } = await pool.get({ network, entity: 'contract', id: address, ...asking })
  if (status !== 200) return undefined
  return (JSON.parse(Buffer.from(body as Uint8Array).toString()) as { _source: ContractSource })._source
}
