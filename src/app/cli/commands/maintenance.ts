import { resolve } from 'node:path'
import { choiceKind, countKind, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import type { Services } from '../../index.ts'
import type { Verified } from '../../verify.ts'
import { CLUSTER_SETTINGS, command, commandNetwork, misused, RETENTION_SETTINGS, SCOPE_SETTINGS } from '../command.ts'
import { formatCount as counted, formatRanges, formatSize, formatTable, formatText } from '../format.ts'

type ServiceResult<K extends keyof Services> = Awaited<ReturnType<Services[K]>>

export const backupCommand = command({
  name: 'backup',
  usage: 'DIR',
  summary:
    'Copies all stored data to a folder, also while a server runs. Into an existing backup, writes only what has changed.',
  settings: [],
  options: { full: setting(toggle, 'false', 'Copies everything, whether or not it has changed.') },
  audited: true,
  arity: [1, 1],
  run: async ({ services, config, options: { full }, args: [folder], cwd, ...run }) =>
    services.backup(config, resolve(cwd, folder!), full, run),
  format: ({ databases, files, bytes, written }) =>
    `Backed up ${databases.length + files} files of ${formatSize(bytes)}, of which ${formatSize(written)} were written.`,
})

export const restoreCommand = command({
  name: 'restore',
  usage: 'DIR',
  summary: 'Restores the data folder from a backup, after checking the whole backup.',
  settings: [],
  options: {
    force: setting(toggle, 'false', 'Moves the present content of the data folder into a folder inside it.'),
    check: setting(toggle, 'false', 'Checks the backup, and restores nothing.'),
  },
  audited: true,
  arity: [1, 1],
  run: async ({ services, config, options, args: [backup], cwd, ...run }) =>
    services.restore(config, resolve(cwd, backup!), options, run),
  format: ({ takenAt, networks, aside }, { config, options }) =>
    options.check
      ? `The backup of ${takenAt} is complete and undamaged.`
      : [
          `Restored the backup of ${takenAt} to ${config.data}.`,
          ...networks.map(({ network, ranges }) => `${network}: ${ranges ? formatRanges(ranges) : OLDER}`),
          ...(aside ? [`The previous content is in ${aside}.`] : []),
        ].join('\n'),
})

const OLDER = 'of an older version, which chainsieve serve upgrades'

export const compactCommand = command({
  name: 'compact',
  usage: '[T/B/N]',
  summary: 'Returns the free space inside the files to the disk. The server must be stopped.',
  settings: [],
  options: {},
  audited: true,
  arity: [0, 1],
  run: async ({ services, config, args: [network], ...run }) => services.compact(config, network, run),
  format: files =>
    files.map(({ file, before, after }) => `${file}: ${formatSize(before)}, now ${formatSize(after)}`).join('\n'),
})

export const pruneCommand = command({
  name: 'prune',
  usage:
    '--network T/B/N (--before BLOCK | --keep-blocks N | --keep-for TIME) [--keep-alerts TIME] | --network T/B/N --outside-scopes [--dry-run] | --network T/B/N --lost',
  summary:
    'Removes old blocks, old alerts, what is outside of narrowed scopes, or blocks whose documents the cluster lost, also with a running server.',
  settings: ['network', ...RETENTION_SETTINGS, ...SCOPE_SETTINGS, 'from', 'to', ...CLUSTER_SETTINGS],
  options: {
    before: setting(countKind(0), undefined, 'Blocks below this one are removed, and are not indexed again.'),
    outsideScopes: setting(
      toggle,
      'false',
      'Removes what the current scopes do not match: --contract and --event, or those of the config file.',
    ),
    lost: setting(
      toggle,
      'false',
      'Removes the blocks of which an index of the cluster was lost and whose documents the file no longer has: they are indexed again.',
    ),
    dryRun: setting(toggle, 'false', 'Only says how much is outside of the scopes.'),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, options: { before, outsideScopes, lost, dryRun }, ...run }): Promise<Removed> => {
    const network = commandNetwork(config)
    if (outsideScopes) {
      if (before !== undefined) throw misused('Give either --before or --outside-scopes.')
      if (!network.scoping)
        throw misused(`${network.network} has no scopes: add --contract or --event, or name the config file.`)
      return services.narrow(config, network, dryRun, run)
    }
    if (lost) {
      if (before !== undefined || dryRun) throw misused('Give --lost alone.')
      if (!network.cluster)
        throw misused(
          `${network.network} has no cluster: add --store opensearch and --opensearch-url, or name the config file.`,
        )
      return services.forget(config, network, run)
    }
    if (dryRun) throw misused('--dry-run belongs to --outside-scopes.')
    const { keepBlocks, keepFor } = network
    if ([before, keepBlocks, keepFor, config.keepAlerts].every(limit => limit === undefined))
      throw misused(
        'What should be removed? Add --before, --keep-blocks, --keep-for, --keep-alerts, --outside-scopes or --lost.',
      )
    return services.prune(config, network, before, run)
  },
  format: (done, { options: { before } }) =>
    done.waiting
      ? 'The program that uses the data folder does it in the background.'
      : 'held' in done
        ? formatPruned(done, before)
        : 'forgotten' in done
          ? formatForgotten(done)
          : formatNarrowed(done),
})

type Removed = ServiceResult<'prune'> | ServiceResult<'forget'> | ServiceResult<'narrow'>

const formatPruned = ({ network, held }: ServiceResult<'prune'>, before: number | undefined): string =>
  before !== undefined && (held[0]?.from ?? before) < before
    ? `${network}: ${formatRanges(held)}\nBlocks below ${before} remain if they share a segment with newer ones or are among the newest 64.`
    : `${network}: ${formatRanges(held)}`

const formatForgotten = ({ network, forgotten }: ServiceResult<'forget'>): string => {
  if (forgotten.length === 0)
    return `${network}: the file has all that the cluster lost, if anything. It is sent again.`
  return `${network}: removed ${formatRanges(forgotten)}. A server with a node indexes them again by itself, from its --from on; otherwise use index or import.`
}

const formatNarrowed = ({ network, outside }: ServiceResult<'narrow'>): string => {
  if (!outside) return `${network}: removed what is outside of the scopes.`
  const { blocks, transactions, logs } = outside
  return `${network}: outside of the scopes: ${logs} logs, ${transactions} transactions, ${blocks} blocks. Nothing was removed.`
}

export const moveCommand = command({
  name: 'move',
  usage: '--network T/B/N --to opensearch|sqlite [options]',
  summary:
    "Moves a network's documents to an OpenSearch cluster, or back into its file, also with a running server, which does it itself.",
  settings: ['network', ...CLUSTER_SETTINGS],
  options: {
    to: setting(choiceKind(['opensearch', 'sqlite']), undefined, 'Where documents are to be, and are searched.'),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, options: { to }, progress, ...run }) => {
    const network = commandNetwork(config)
    if (to === undefined) throw misused('Where to? Add --to opensearch or --to sqlite.')
    if (to === 'opensearch' && !network.cluster)
      throw misused(
        `${network.network} has no cluster: add --store opensearch and --opensearch-url, or name the config file.`,
      )
    const shown = progress(network.network)
    return services.move(config, network, to, { ...run, progress: shown }).finally(shown.finish)
  },
  format: ({ network, store }) =>
    store === 'opensearch'
      ? `${network}: searches ask the cluster.`
      : `${network}: searches ask the file. Leave store and opensearch-url out of its settings from now on. The indices in the cluster remain until you delete them.`,
})

export const salvageCommand = command({
  name: 'salvage',
  usage: 'T/B/N',
  summary: 'Makes a new store from the undamaged parts of a damaged one, and names the lost blocks.',
  settings: [],
  options: {},
  audited: true,
  arity: [1, 1],
  run: async ({ services, config, args: [network], ...run }) => services.salvage(config, network!, run),
  format: ({ network, held, lost, lostAlerts, aside }) =>
    [
      `${network}: ${formatRanges(held)}`,
      `Lost: ${formatRanges(lost)}`,
      ...(lostAlerts > 0 ? [`Lost: ${counted(lostAlerts, 'alert')}`] : []),
      `The damaged file is ${aside}. The next chainsieve serve or index indexes the lost blocks again.`,
    ].join('\n'),
})

export const verifyCommand = command({
  name: 'verify',
  usage: '[T/B/N]',
  summary: 'Reads all stored data and checks it for damage. Exits with 1 if there is any.',
  settings: [],
  options: {
    deep: setting(
      toggle,
      'false',
      'Also reads every record and every part of the index, and runs the integrity check of SQLite.',
    ),
  },
  arity: [0, 1],
  run: async ({ services, config, options: { deep }, args: [network], ...run }) => {
    if (network !== undefined && network.split('/').length !== 3) throw misused(`${network} is no T/B/N.`)
    return services.verify(config, network, deep, run)
  },
  format: verified =>
    verified.length === 0 ? NOTHING_STORED : verified.map(one => `${one.file}: ${formatVerified(one)}`).join('\n'),
  code: verified => (verified.some(({ faults }) => faults.length > 0) ? 1 : 0),
})

const formatVerified = ({ faults, unchecked, unread }: Verified): string => {
  if (unread !== undefined)
    return `${unchecked ? 'was not checked' : 'has the pages that were written, whose content was not checked'}: ${formatText(unread, 400)}.`
  if (unchecked) return 'has no checksums yet. They are made when a server or an import writes to it next.'
  if (faults.length === 0) return 'is as it was written.'
  return `is damaged. ${faults.map(fault => `${formatText(fault, 400)}.`).join(' ')} ${DAMAGE_ADVICE}`
}

const DAMAGE_ADVICE =
  'Check the disk, move away the file and those whose names begin like it, and restore a backup or index again.'

export const statsCommand = command({
  name: 'stats',
  usage: '[T/B/N]',
  summary: 'Shows the size of documents, index, alerts and dictionaries. Reads every page.',
  settings: [],
  options: {},
  arity: [0, 1],
  run: async ({ services, config, args: [network] }) => services.stats(config, network),
  format: found => (found.length === 0 ? NOTHING_STORED : found.map(formatStats).join('\n')),
})

const NOTHING_STORED = 'Nothing is stored.'

const formatStats = ({ network, store, bytes, log, free, ranges, parts }: ServiceResult<'stats'>[number]): string =>
  [
    `${network}: ${formatSize(bytes)}, of which ${formatSize(free)} are free; write-ahead log ${formatSize(log)}`,
    `blocks: ${formatRanges(ranges)}`,
    ...(store === 'opensearch' ? ['documents: in the cluster, which knows their sizes'] : []),
    formatTable(
      ['PART', 'WHAT', 'BYTES', 'SHARE', 'ROWS'],
      parts.map(({ part, what, bytes: size, share, rows }) => [
        part,
        what,
        formatSize(size),
        `${share.toFixed(1)} %`,
        rows === null ? '-' : rows.toLocaleString('en'),
      ]),
    ),
  ].join('\n')
