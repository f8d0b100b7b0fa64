import { command, misused, networkOf } from '../command.ts'
import { endOf } from '../ending.ts'
import { CLUSTER, NODE, SCOPED } from '../setting-lists.ts'
import { showSummary } from '../show.ts'

export const indexBlocks = command({
  name: 'index',
  usage: '--network T/B/N --rpc URL [--contract ADDRESS] [--event EVENT] [--from N|latest-K] [--to N] [options]',
  summary: 'Indexes a range of blocks and exits. The same command continues where it stopped.',
  settings: [...NODE, ...SCOPED, ...CLUSTER, 'indexers', 'limit'],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, progress, print }) => {
    const network = networkOf(config)
    if (network.rpc.length === 0) throw misused(`Where is a node of ${network.network}? Add --rpc URL.`)
    const shown = progress(network.network)
    const summary = await services.index(config, network, { log, shutdown, progress: shown }).finally(shown.finish)
    print(showSummary(network.network, summary, config.json))
    return endOf(summary, { shutdown, log })
  },
})
