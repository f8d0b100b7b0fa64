import { count, toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, misused, networkOf } from '../command.ts'
import type { NarrowDone } from '../services.ts'
import { KEPT, SCOPED } from '../setting-lists.ts'
import { showRanges } from '../show.ts'

export const prune = command({
  name: 'prune',
  usage:
    '--network T/B/N (--before BLOCK | --keep-blocks N | --keep-for TIME) [--keep-alerts TIME] | --network T/B/N --outside-scopes [--dry-run]',
  summary: 'Removes old blocks, old alerts, or what is outside of narrowed scopes, also beside a running server.',
  settings: ['network', ...KEPT, ...SCOPED, 'from', 'to'],
  options: {
    before: setting(count(0), undefined, 'Blocks below this one are removed, and are not indexed again.'),
    outsideScopes: setting(
      toggle,
      'false',
      'Removes what the scopes of today do not want: --contract and --event, or those of the config file.',
    ),
    dryRun: setting(toggle, 'false', 'Only says how much is outside of the scopes.'),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, options: { before, outsideScopes, dryRun }, log, shutdown, print }) => {
    const network = networkOf(config)
    if (outsideScopes) {
      if (before !== undefined) throw misused('Give either --before or --outside-scopes.')
      if (!network.scoping)
        throw misused(`${network.network} has no scopes: add --contract or --event, or name the config file.`)
      const done = await services.narrow(config, network, dryRun, { log, shutdown })
      return print(config.json ? JSON.stringify(done) : showNarrowed(done))
    }
    if (dryRun) throw misused('--dry-run belongs to --outside-scopes.')
    const { keepBlocks, keepFor } = network
    if ([before, keepBlocks, keepFor, config.keepAlerts].every(limit => limit === undefined))
      throw misused(
        'What should be removed? Add --before, --keep-blocks, --keep-for, --keep-alerts or --outside-scopes.',
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

const showNarrowed = ({ network, outside, waiting }: NarrowDone): string => {
  if (waiting) return IN_BACKGROUND
  if (!outside) return `${network}: removed what is outside of the scopes.`
  const { blocks, transactions, logs } = outside
  return `${network}: outside of the scopes: ${logs} logs, ${transactions} transactions, ${blocks} blocks. Nothing was removed.`
}
