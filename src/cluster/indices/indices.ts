import { retry, stop } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Range } from '../../lib/ranges.ts'
import { KINDS, type Kind } from '../../mapping/index.ts'
import type { Cluster, ClusterOptions } from '../connection/cluster.ts'
import { expectOk, expectOkText } from '../connection/expect-ok.ts'
import { findVersion } from '../connection/version.ts'
import { type Differences, differencesOf, type FoundIndex } from './differences.ts'
import { aliasIn, type IdentityOf, identityIn, replaced, wantedIndices } from './lost-indices.ts'
import { aliasOf, baseOf, indexNameOf } from './names.ts'
import { indexBody, templateBody } from './template.ts'

/** The indices of a network. */
export type Indices = ReturnType<typeof createIndices>

export const createIndices = (
  cluster: Pick<Cluster, 'ask'>,
  options: ClusterOptions,
  network: string,
  log: Log,
  identityOf: IdentityOf = () => undefined,
) => {
  /** Existing or pending indices by block range; undefined is the range of tokens. */
  const ready = new Map<number | undefined, true | Promise<void>>()
  const forsaken = new Set<string>()
  const names = KINDS.map(kind => ({
    kind,
    pattern: new RegExp(`^${literally(aliasOf(options, network, kind))}-(\\d{6,})$`),
  }))

  const kindOf = (name: string): Kind | undefined => names.find(({ pattern }) => pattern.test(name))?.kind

  const find = async (): Promise<Map<string, { kind: Kind; index: FoundIndex }>> => {
    const query = { flat_settings: true, expand_wildcards: 'open,closed' }
    const path = `/${baseOf(options, network)}-*`
    const text = await expectOk(cluster, { method: 'GET', path, query }, 'list its indices')
    const all = JSON.parse(text) as Record<string, FoundIndex>
    const found = new Map<string, { kind: Kind; index: FoundIndex }>()
    for (const [name, index] of Object.entries(all)) {
      const kind = kindOf(name)
      if (kind) found.set(name, { kind, index })
    }
    return found
  }

  const putTemplate = (kind: Kind) =>
    putIndex(
      cluster,
      `/_index_template/${aliasOf(options, network, kind)}`,
      lacking => templateBody(kind, network, options, { lacking }),
      'take an index template',
    )

  const adapt = async (name: string, kind: Kind, { missing, replicas, alias }: Differences) => {
    const changes: [boolean, string, path: string, body: object][] = [
      [Object.keys(missing).length > 0, 'new fields', `/${name}/_mapping`, { properties: missing }],
      [replicas, 'replicas', `/${name}/_settings`, { index: { number_of_replicas: options.replicas } }],
      [alias, 'its alias', `/${name}/_alias/${aliasOf(options, network, kind)}`, {}],
    ]
    for (const [isWanted, what, path, body] of changes) {
      if (!isWanted) continue
      await expectOk(cluster, { method: 'PUT', path, body }, `change ${what} of ${name}`)
      log.info('Changed an index of the cluster', { index: name, what })
    }
  }

  const create = async (block: number | undefined): Promise<void> => {
    const kinds = block === undefined ? (['token'] as const) : KINDS
    const all = kinds.map(kind => ({ kind, index: indexNameOf(options, network, kind, block ?? 0) }))
    await Promise.all(
      all.map(({ kind, index }) => {
        const byItself = forsaken.has(index)
        const body = (lacking: Lacking) => indexBody(kind, network, options, { lacking, byItself })
        return putIndex(cluster, `/${index}`, body, 'create an index')
      }),
    )
    // An alias to an index without nodes would fail all its searches.
    const actions = all.map(({ kind, index }) => ({ add: { index, alias: aliasOf(options, network, kind) } }))
    const request = { method: 'POST', path: '/_aliases', body: { actions } } as const
    const doing = 'give new indices their aliases'
    const answer = await cluster.ask(request)
    if (answer.status === 404) throw retry('cluster_busy', `the cluster cannot ${doing}: one is gone again`)
    expectOkText(answer, request, doing)
  }

  const differing = async () =>
    [...(await find())].map(([index, { kind, index: there }]) => ({
      ...{ index, kind, ...differencesOf(there, kind, network, options) },
    }))

  return {
    /**
     * Updates templates, replicas, aliases and fields. Throws a `stop` with all immutable
     * differences, and a `retry` if the cluster does not answer. `ensure` creates lost indices.
     */
    async prepare() {
      const { name, doubt } = await findVersion(cluster)
      if (doubt !== undefined) log.warn('The cluster runs a version that was not tried', { version: name, doubt })
      const all = await differing()
      const fixed = fixedIn(all)
      if (fixed.length > 0) throw different(fixed)
      await Promise.all(KINDS.map(putTemplate))
      for (const { index, kind, ...differences } of all) await adapt(index, kind, differences)
    },
    /** Differences that `prepare` would refuse; changes nothing. */
    check: async () => fixedIn(await differing()),
    /** Creates the indices for a block, or those of tokens; undefined if they exist. */
    ensure(block: number | undefined) {
      const range = block === undefined ? undefined : Math.floor(block / options.blocksPerIndex)
      const known = ready.get(range)
      if (known === true) return undefined
      const made =
        known ??
        create(block).then(
          () => void ready.set(range, true),
          error => {
            ready.delete(range)
            throw error
          },
        )
      if (known === undefined) ready.set(range, made)
      return made
    },
    /**
     * Finds lost indices of these blocks: missing, or replaced by the cluster or a restore; and the
     * identities of all indices.
     */
    async look(ranges: readonly Range[]) {
      const all = await find()
      const ours = [...all].filter(([, { index }]) => index.mappings._meta?.byItself !== true)
      const found = new Map(ours.map(([name, { index }]) => [name, identityOfFound(index)]))
      const lost = wantedIndices(options, network, ranges).flatMap(wanted =>
        found.has(wanted.index) ? replaced(wanted, found.get(wanted.index), identityOf) : [wanted],
      )
      if (lost.length > 0) ready.clear()
      return { lost, found }
    },
    /** Counts an index as lost, even if created again: its documents are not rewritten. */
    forsake: (index: string) => void forsaken.add(index),
    /** Accepts an index that the cluster created for a lost one, once the loss is recorded. */
    async renew(index: string) {
      forsaken.delete(index)
      ready.clear()
      const kind = kindOf(index)
      if (!kind || !(await find()).has(index)) return
      const alias = aliasOf(options, network, kind)
      await expectOk(cluster, { method: 'PUT', path: `/${index}/_alias/${alias}`, body: {} }, `name ${index}`)
      const { _meta } = indexBody(kind, network, options).mappings
      await expectOk(cluster, { method: 'PUT', path: `/${index}/_mapping`, body: { _meta } }, `renew ${index}`)
    },
  }
}

/** Kind of documents in an index, by its name. */
export const kindOfIndex = (naming: Pick<ClusterOptions, 'prefix'>, network: string, index: string): Kind =>
  KINDS.find(kind => aliasIn(index) === aliasOf(naming, network, kind))!

const identityOfFound = ({ settings }: FoundIndex): string | undefined =>
  identityIn(settings['index.uuid'] as string | undefined, settings['index.history.uuid'] as string | undefined)

const literally = (text: string): string => text.replace(/[.]/g, '\\.')

/** Immutable differences without duplicates, with the indices that have them. */
const fixedIn = (all: readonly (Differences & { index: string })[]): string[] => {
  const found = all.flatMap(({ index, fixed }) => fixed.map(text => ({ index, text })))
  return [...Map.groupBy(found, ({ text }) => text)].map(([text, at]) => `${text} (${indexNames(at)})`)
}

const indexNames = ([first, ...more]: readonly { index: string }[]): string =>
  more.length === 0 ? first!.index : `${first!.index} and ${more.length} more`

const MAX_DIFFERENCES = 20

const different = (fixed: readonly string[]) =>
  stop(
    'cluster_differs',
    `the indices of the cluster are not as they must be: ${fixed.slice(0, MAX_DIFFERENCES).join('; ')}${fixed.length > MAX_DIFFERENCES ? `; and ${fixed.length - MAX_DIFFERENCES} more` : ''}. Set what was set before, or choose another opensearch-prefix and index again`,
  )

/** Features that some clusters lack: indices are created without them. */
export interface Lacking {
  /** Sorting of indices with nested fields: Elasticsearch 7. */
  sorting?: boolean
  /** Name of the default similarity of Elasticsearch, and of OpenSearch before 3. */
  similarity?: boolean
}

/** Error texts that identify a missing feature. */
const SAYS: readonly [keyof Lacking, text: string][] = [
  ['sorting', 'nested fields when index sort'],
  ['similarity', 'Unknown Similarity type'],
]

/** Creates an index or template with all supported features; false if the index exists. */
export const putIndex = async (
  cluster: Pick<Cluster, 'ask'>,
  path: string,
  bodyOf: (lacking: Lacking) => object,
  doing: string,
): Promise<boolean> => {
  for (let lacking: Lacking = {}; ; ) {
    const request = { method: 'PUT', path, body: bodyOf(lacking) } as const
    const answer = await cluster.ask(request)
    const isRefused = answer.status === 400
    if (isRefused && answer.text.includes('resource_already_exists_exception')) return false
    const lacks = SAYS.find(([what, text]) => isRefused && !lacking[what] && answer.text.includes(text))
    if (!lacks) {
      expectOkText(answer, request, doing)
      return true
    }
    lacking = { ...lacking, [lacks[0]]: true }
  }
}
