import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf, refuse, stop } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import { type NETWORK_SETTINGS, placesOf, type Values } from './settings.ts'

/** The cluster that holds a network's documents. */
export interface ClusterConfig {
  urls: string[]
  username: string | undefined
  password: Secret | undefined
  /** A file. */
  ca: string | undefined
  prefix: string
  shards: number
  replicas: number
  blocksPerIndex: number
  /** Bytes by which the network's file may grow before indexing waits for the cluster. */
  journalMax: number
  /** `store` is sqlite: documents in the cluster are restored. */
  returning: boolean
}

/** Settings of a network that say more of its cluster. */
export const CLUSTER_OPTIONS = [
  'opensearchUrl',
  'opensearchUser',
  'opensearchPassword',
  'opensearchCa',
  'opensearchPrefix',
  'opensearchShards',
  'opensearchReplicas',
  'opensearchBlocks',
  'journalMax',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

/** Settings of a network that become its cluster. */
export type ClusterSetting = 'store' | (typeof CLUSTER_OPTIONS)[number]

type NetworkValues = Values<typeof NETWORK_SETTINGS>

/** Places of settings; `base` is the base folder of paths. */
type Places = Partial<Record<string, { place: string; base?: string }>>

/** The cluster of a network, and its other settings. */
export const clusterOf = (
  values: NetworkValues,
  places: Places,
): { cluster: ClusterConfig | undefined; rest: Omit<NetworkValues, ClusterSetting> } => {
  const {
    store,
    opensearchUrl: urls,
    opensearchUser: username,
    opensearchPassword: password,
    opensearchCa: ca,
    opensearchPrefix: prefix,
    opensearchShards: shards,
    opensearchReplicas: replicas,
    opensearchBlocks: blocksPerIndex,
    journalMax,
    ...rest
  } = values
  const bad = (name: ClusterSetting, text: string) => refuse('bad_setting', `${places[name]?.place ?? name}${text}`)
  if (store === 'sqlite') {
    const idle = CLUSTER_OPTIONS.find(name => places[name])
    if (!idle) return { cluster: undefined, rest }
    // Without `store`, a cluster setting is an oversight, not a request to restore documents.
    if (!places.store || urls.length === 0)
      throw bad(idle, ` is a setting of a network with ${placesOf('store').flag} opensearch.`)
  }
  if (urls.length === 0) throw bad('store', ': opensearch requires a node of the cluster: add --opensearch-url URL.')
  if (username !== undefined && password === undefined)
    throw bad('opensearchUser', ' requires a password: set opensearch-password.')
  if (password !== undefined && username === undefined)
    throw bad('opensearchPassword', ' requires a user: set opensearch-user.')
  const bare = urls.find(url => !url.startsWith('https:'))
  if (ca !== undefined && bare !== undefined) throw bad('opensearchCa', ` requires https, and ${bare} is without it.`)
  const file = ca === undefined ? undefined : resolve(places.opensearchCa?.base ?? process.cwd(), ca)
  return {
    cluster: {
      ...{ urls, username, password, ca: file, prefix, shards, replicas, blocksPerIndex, journalMax },
      returning: store === 'sqlite',
    },
    rest,
  }
}

/** Options for connecting to the cluster, with revealed secrets. */
export const clusterOptions = ({ password, ca, returning: _, ...cluster }: ClusterConfig) => ({
  ...cluster,
  password: password?.reveal(),
  ca: ca === undefined ? undefined : readCa(ca),
})

const readCa = (file: string): string => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw stop('ca_unreadable', `the certificate authority of the cluster cannot be read: ${messageOf(error)}`, error)
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw stop('ca_unreadable', `${file} has no certificate in PEM: name the one of the cluster's authority`)
  return text
}
