import type { Config } from '../config/index.ts'
import { storedNetworks } from '../engine/files.ts'
import {
  type AbiScope,
  abiFolder,
  storeAbiFiles as add,
  readAbis as list,
  removeAbisByName as remove,
  type StoredAbi,
} from '../ingest/decoding/abis.ts'
import { askToRedecode, redecodeFolder } from '../ingest/requests/redecode-requests.ts'
import { readStatus } from '../ingest/status/live.ts'
import type { Log } from '../lib/log.ts'

interface AbiPlace {
  network: string | undefined
  address: string | undefined
  codeHash: string | undefined
}

/** An ABI that the user added. */
export interface AbiFile extends Pick<StoredAbi, 'name' | 'address' | 'codeHash' | 'network' | 'probability'> {
  events: number
  functions: number
  /** Set if stored data is to be decoded again by it: of which networks, and whether a running server does so now. */
  redecoding?: { networks: string[]; now: boolean }
}

/** With `redecode` also for what is stored. */
export const addOwnAbis = async (
  config: Config,
  files: string[],
  place: AbiPlace,
  redecode: boolean,
  log: Log,
): Promise<AbiFile[]> => {
  const abis = add(abiFolder(config.data), files, toWhere(place), config.limits, log)
  if (!redecode) return abis.map(toAbiFile)
  const networks = storedNetworks(config.data).filter(stored => place.network === undefined || stored === place.network)
  for (const abi of abis) askToRedecode(redecodeFolder(config.data), abi, networks)
  const now = readStatus(config.data) !== undefined
  return abis.map(abi => ({ ...toAbiFile(abi), redecoding: { networks, now } }))
}

/** Removes ABIs by name, optionally only those of one network, address or code. */
export const removeOwnAbis = async ({ data }: Config, names: string[], place: AbiPlace): Promise<AbiFile[]> =>
  remove(abiFolder(data), names, toWhere(place)).map(toAbiFile)

export const listOwnAbis = async ({ data }: Config): Promise<AbiFile[]> => list(abiFolder(data)).map(toAbiFile)

const toWhere = ({ network, address, codeHash }: AbiPlace): AbiScope => ({
  network: network ?? null,
  address: address ?? null,
  codeHash: codeHash ?? null,
})

const toAbiFile = ({ name, address, codeHash, network, probability, events, functions }: StoredAbi): AbiFile => ({
  ...{ name, address, codeHash, network, probability },
  ...{ events: events.length, functions: functions.length },
})
