import type { Config, NetworkConfig } from '../config/index.ts'
import { allowancesOf } from '../config/kinds.ts'
import { abiFolder, readAbiFile, readOwnAbis, type StoredAbi } from '../ingest/decoding/abi-files.ts'
import { replayTransaction } from '../ingest/replay.ts'
import { messageOf } from '../lib/errors.ts'
import type { Run } from '../lib/shutdown.ts'
import { type Creation, newsOfBlocks, type ReplayOptions } from './chain-news.ts'
import { type Artifact, createCodeNaming, createNaming, findProjects, readArtifacts } from './project.ts'

/** Tells what happened in one transaction, by what a node says of it now. Nothing is stored. */
export const replayForDev = async (
  config: Config,
  network: NetworkConfig,
  hash: string,
  { folder, report, shutdown, log }: Run & ReplayOptions,
): Promise<void> => {
  const projects = findProjects(folder)
  const found = projects.map(({ artifacts }) => readArtifacts(artifacts))
  const artifacts = found.flatMap(it => it.artifacts)
  const { abis, broken } = readAbis(artifacts)
  report({ type: 'artifacts', projects, contracts: artifacts.length, again: false })
  for (const { file, why } of [...found.flatMap(it => it.broken), ...broken]) report({ type: 'broken', file, why })

  const { untraced, codes, ...sources } = await replayTransaction({
    urls: network.rpc.map(url => url.reveal()),
    allowances: allowancesOf(network),
    ...{ data: config.data, network: network.network, log },
    hash,
    own: [...abis, ...readOwnAbis(abiFolder(config.data), network.network)],
    codes: artifacts.length > 0,
    timeoutMs: network.requestTimeout,
    limits: config.limits,
    signal: shutdown.signal,
  })
  const creations = new Map<string, Creation>()
  const [nameOfCreation, nameOfCode] = [createNaming(artifacts), createCodeNaming(artifacts)]
  const named = (address: unknown): string | null => {
    if (typeof address !== 'string') return null
    const [creation, code] = [creations.get(address), codes.get(address)]
    return (creation && nameOfCreation(creation.input)) ?? (code && nameOfCode(code)) ?? null
  }
  if (untraced !== undefined) report({ type: 'untraced', why: untraced })
  const onCreated = (address: string, creation: Creation) => void creations.set(address, creation)
  for (const item of newsOfBlocks(sources, { named, verbose: true, onCreated })) report(item)
}

const readAbis = (artifacts: readonly Artifact[]) => {
  const abis: StoredAbi[] = []
  const broken: { file: string; why: string }[] = []
  for (const { file } of artifacts) {
    try {
      abis.push(readAbiFile(file, { network: null, address: null }))
    } catch (error) {
      broken.push({ file, why: messageOf(error) })
    }
  }
  return { abis, broken }
}
