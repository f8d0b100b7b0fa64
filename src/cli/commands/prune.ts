import { count } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, KEPT, misused, networkOf } from '../command.ts'
import { showRanges } from '../show.ts'

export const prune = command({
  name: 'prune',
  usage: '--network T/B/N (--before BLOCK | --keep-blocks N | --keep-for TIME) [--keep-alerts TIME]',
  summary: 'Removes old blocks and old alerts, also beside a running server.',
  settings: ['network', ...KEPT],
  options: { before: setting(count(0), undefined, 'Blocks below this one are removed, and are not indexed again.') },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, options: { before }, log, shutdown, print }) => {
    const network = networkOf(config)
    const { keepBlocks, keepFor } = network
    if ([before, keepBlocks, keepFor, config.keepAlerts].every(limit => limit === undefined))
      throw misused('What should be removed? Add --before, --keep-blocks, --keep-for or --keep-alerts.')
    const done = await services.prune(config, network, before, { log, shutdown })
    if (config.json) print(JSON.stringify(done))
    else if (done.waiting) print('The program that uses the data folder does it in the background.')
    else {
      print(`${done.network}: ${showRanges(done.held)}`)
      if (before !== undefined && (done.held[0]?.from ?? before) < before)
        print(`Blocks below ${before} remain if they share a segment with newer ones or are among the newest 64.`)
    }
  },
})
