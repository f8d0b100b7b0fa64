import { count, toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, misused, networkOf } from '../command.ts'
import type { ForgetDone, NarrowDone } from '../services.ts'
import { CLUSTER, KEPT, SCOPED } from '../setting-lists.ts'
import { showRanges } from '../show.ts'

export const prune = command({
  name: 'prune',
  usage:
    '--network T/B/N (--before BLOCK | --keep-blocks N | --keep-for TIME) [--keep-alerts TIME] | --network T/B/N --outside-scopes [--dry-run] | --network T/B/N --lost',
  summary:
    'Removes old blocks, old alerts, what is outside of narrowed scopes, or blocks whose documents the cluster lost, also beside a running server.',
  settings: ['network', ...KEPT, ...SCOPED, 'from', 'to', ...CLUSTER],
  options: {
    before: setting(count(0), undefined, 'Blocks below this one are removed, and are not indexed again.'),
    outsideScopes: setting(
      toggle,
      'false',
      'Removes what the scopes of today do not want: --contract and --event, or those of the config file.',
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
  run: async ({ services, config, options: { before, outsideScopes, lost, dryRun }, log, shutdown, print }) => {
    const network = networkOf(config)
    if (outsideScopes) {
      if (before !== undefined) throw misused('Give either --before or --outside-scopes.')
      if (!network.scoping)
        throw misused(`${network.network} has no scopes: add --contract or --event, or name the config file.`)
      const done = await services.narrow(config, network, dryRun, { log, shutdown })
      return print(config.json ? JSON.stringify(done) : showNarrowed(done))
    }
    if (lost) {
      if (before !== undefined || dryRun) throw misused('Give --lost alone.')
      if (!network.cluster)
        throw misused(
          `${network.network} has no cluster: add --store opensearch and --opensearch-url, or name the config file.`,
        )
      const done = await services.forget(config, network, { log, shutdown })
      return print(config.json ? JSON.stringify(done) : showForgotten(done))
    }
    if (dryRun) throw misused('--dry-run belongs to --outside-scopes.')
    const { keepBlocks, keepFor } = network
    if ([before, keepBlocks, keepFor, config.keepAlerts].every(limit => limit === undefined))
      throw misused(
        'What should be removed? Add --before, --keep-blocks, --keep-for, --keep-alerts, --outside-scopes or --lost.',
      )
    const done = await services.prune(config, network, before, { log, shutdown })
    if (config.json) print(JSON.stringify(done))
    else if (done.waiting) print(IN_BACKGROUND)
    else {
      print(`${done.network}: ${showRanges(done.held)}`)
      if (before !== undefined && (done.held[0]?.from ?? before) < before)
        print(`Blocks below ${before} remain if they share a segment with newer ones or are among the newest 64.`)
    }
  },
})

const IN_BACKGROUND = 'The program that uses the data folder does it in the background.'

const showForgotten = ({ network, forgotten, waiting }: ForgetDone): string => {
  if (waiting) return IN_BACKGROUND
  if (forgotten.length === 0)
    return `${network}: the file has all that the cluster lost, if anything. It is sent again.`
  return `${network}: removed ${showRanges(forgotten)}. A server with a node indexes them again by itself, from its --from on; otherwise use index or import.`
}

const showNarrowed = ({ network, outside, waiting }: NarrowDone): string => {
  if (waiting) return IN_BACKGROUND
  if (!outside) return `${network}: removed what is outside of the scopes.`
  const { blocks, transactions, logs } = outside
  return `${network}: outside of the scopes: ${logs} logs, ${transactions} transactions, ${blocks} blocks. Nothing was removed.`
}
