import { textKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { storedNetworks } from '../../../engine/files.ts'
import {
  abiFolder,
  readStoredAbis,
  removeAbisByName,
  type StoredAbi,
  storeAbiFiles,
} from '../../../ingest/decoding/abi-files.ts'
import { askToRedecode, redecodeFolder } from '../../../ingest/requests.ts'
import { readStatus } from '../../../ingest/status/live.ts'
import { command, misused } from '../command.ts'
import { formatTable } from '../format.ts'

interface AbiFile extends Pick<StoredAbi, 'name' | 'address' | 'codeHash' | 'network' | 'probability'> {
  events: number
  functions: number
  /** Networks whose stored blocks are decoded again, and whether a running server does it now. */
  redecoding?: { networks: string[]; now: boolean }
}

const toAbiFile = ({ name, address, codeHash, network, probability, events, functions }: StoredAbi): AbiFile => ({
  ...{ name, address, codeHash, network, probability },
  ...{ events: events.length, functions: functions.length },
})

const ABI_COLUMNS = ['NAME', 'NETWORK', 'FOR', 'PROBABILITY', 'EVENTS', 'FUNCTIONS']

const formatAbis = (files: AbiFile[]): string => {
  const rows = files.map(({ name, network, address, codeHash, probability, events, functions }) => [
    ...[name, network ?? 'any', address ?? (codeHash === null ? 'any' : `code ${codeHash}`)],
    ...[String(probability), String(events), String(functions)],
  ])
  return formatTable(ABI_COLUMNS, rows)
}

export const abiAddCommand = command({
  name: 'abi add',
  usage: '[--network T/B/N] [--address ADDRESS | --code-hash HASH] [--redecode] FILE|FOLDER…',
  summary:
    'Adds ABIs to decode by: JSON, artifacts of Foundry and Hardhat, folders of both, metadata of Sourcify, signatures, lists of 4byte and OpenChain.',
  settings: ['network', 'limit'],
  options: {
    address: setting(
      textKind('an address', 'ADDRESS'),
      undefined,
      'Address of the contract that the ABI is for. The default is every contract that it fits.',
    ),
    codeHash: setting(
      textKind('a hash', 'HASH'),
      undefined,
      'Keccak-256 of the code that the ABI is for, at any address. The field `codeHash` of a contract has it.',
    ),
    redecode: setting(toggle, 'false', 'Also decodes stored blocks again, in the running server or in the next one.'),
  },
  audited: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ config, args, options: { address, codeHash, redecode }, log }): Promise<AbiFile[]> => {
    checkAbiPlace(address, codeHash)
    if (address !== undefined && codeHash !== undefined)
      throw misused('An ABI is for a contract or for a code: give --address or --code-hash, not both.')
    if (address !== undefined && config.network === undefined)
      throw misused('On which network is that contract? Add --network T/B/N.')
    const { data, network, limits } = config
    const scope = { network: network ?? null, address: address ?? null, codeHash: codeHash ?? null }
    const abis = storeAbiFiles(abiFolder(data), args, scope, limits, log)
    if (!redecode) return abis.map(toAbiFile)
    const networks = storedNetworks(data).filter(stored => network === undefined || stored === network)
    for (const abi of abis) askToRedecode(redecodeFolder(data), abi, networks)
    const now = readStatus(data) !== undefined
    return abis.map(abi => ({ ...toAbiFile(abi), redecoding: { networks, now } }))
  },
  format: files => {
    const [redecoding] = files.flatMap(file => file.redecoding ?? [])
    return redecoding ? `${formatAbis(files)}\n${formatRedecoding(redecoding)}` : formatAbis(files)
  },
})

export const abiListCommand = command({
  name: 'abi list',
  usage: '',
  summary: 'Lists the ABIs that you added.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async ({ config }) => readStoredAbis(abiFolder(config.data)).map(toAbiFile),
  format: formatAbis,
})

export const abiRemoveCommand = command({
  name: 'abi remove',
  usage: '[--network T/B/N] [--address ADDRESS] [--code-hash HASH] NAME…',
  summary:
    'Removes the ABIs of that name, or only those of one network, contract or code. Stored documents stay decoded.',
  settings: ['network'],
  options: {
    address: setting(
      textKind('an address', 'ADDRESS'),
      undefined,
      'Address of the contract that the ABI was added for.',
    ),
    codeHash: setting(textKind('a hash', 'HASH'), undefined, 'Hash of the code that the ABI was added for.'),
  },
  audited: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ config: { data, network }, args, options: { address, codeHash } }) => {
    checkAbiPlace(address, codeHash)
    const scope = { network: network ?? null, address: address ?? null, codeHash: codeHash ?? null }
    return removeAbisByName(abiFolder(data), args, scope).map(toAbiFile)
  },
  format: formatAbis,
})

const checkAbiPlace = (address: string | undefined, codeHash: string | undefined) => {
  if (address !== undefined && !/^0x[0-9a-f]{40}$/i.test(address))
    throw misused(`--address takes 0x and 40 hex digits, not ${JSON.stringify(address)}.`)
  if (codeHash !== undefined && !/^0x[0-9a-f]{64}$/i.test(codeHash))
    throw misused(
      `--code-hash takes 0x and 64 hex digits, the Keccak-256 of a contract's code, not ${JSON.stringify(codeHash)}.`,
    )
}

const formatRedecoding = ({ networks, now }: NonNullable<AbiFile['redecoding']>): string => {
  if (networks.length === 0) return 'No stored blocks need decoding again.'
  const who = now ? 'The running server decodes' : 'The next chainsieve serve will decode'
  return `${who} the stored blocks of ${networks.join(', ')} again.`
}
