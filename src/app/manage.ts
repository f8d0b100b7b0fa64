import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import type { Management } from '../http/manage/service.ts'
import { abiFolder } from '../ingest/decoding/abis.ts'
import type { Indexing } from '../ingest/network.ts'
import { redecodeFolder } from '../ingest/requests/redecode-requests.ts'
import type { Status } from '../ingest/status/status.ts'
import type { Log } from '../lib/log.ts'
import type { Pool } from '../search/pool.ts'
import { createAbiOf } from './manage/abi-of.ts'
import { createAbiShelf } from './manage/abis.ts'
import { createRates } from './manage/rates.ts'
import { createRedecodings } from './manage/redecodings.ts'
import { createStorage } from './manage/storage.ts'
import { storeOf } from './stores.ts'

interface ManagementOptions {
  config: Config
  accounts: Pick<Accounts, 'token' | 'trail'>
  pool: Pick<Pool, 'get'>
  networks(): readonly string[]
  indexings: readonly Indexing[]
  watching?: ((network: string) => Indexing | undefined) | undefined
  status(): Promise<Status>
  log: Log
}

/** What a running server is managed by, over HTTP; `stop` ends what it does by itself. */
export const createManagement = ({
  config,
  accounts,
  pool,
  networks,
  indexings,
  watching,
  status,
  log,
}: ManagementOptions): Management & { stop(): void } => {
  const { data } = config
  const stored = () => storedNetworks(data)
  const indexed = (network: string) => indexings.find(it => it.network === network)
  const abis = createAbiShelf(abiFolder(data))
  const rates = createRates(status, log)
  return {
    token: accounts.token,
    note: accounts.trail.record,
    networks: () =>
      networks().map(network => ({
        network,
        indexed: indexed(network) !== undefined,
        traces: config.networks.find(it => it.network === network && it.rpc.length > 0)?.traces ?? null,
      })),
    abis,
    redecodings: createRedecodings({
      folder: redecodeFolder(data),
      shelf: abis,
      stored,
      indexingOf: network => indexed(network) ?? watching?.(network),
    }),
    abiOf: createAbiOf({
      pool,
      storeOf: network => (stored().includes(network) ? storeFile(data, network) : undefined),
      shelf: abis,
    }),
    rates: rates.of,
    storage: createStorage(network => storeOf(data, network)),
    stop: rates.stop,
  }
}
