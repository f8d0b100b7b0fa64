import { oneOf } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, misused, networkOf } from '../command.ts'
import { CLUSTER } from '../setting-lists.ts'

export const move = command({
  name: 'move',
  usage: '--network T/B/N --to opensearch|sqlite [options]',
  summary:
    "Moves a network's documents to an OpenSearch cluster, or back into its file, also beside a running server, which does it itself.",
  settings: ['network', ...CLUSTER],
  options: {
    to: setting(oneOf(['opensearch', 'sqlite']), undefined, 'Where documents are to be, and are searched.'),
  },
  audited: true,
  arity: [0, 0],
  run: async ({ services, config, options: { to }, log, shutdown, progress, print }) => {
    const network = networkOf(config)
    if (to === undefined) throw misused('Where to? Add --to opensearch or --to sqlite.')
    if (to === 'opensearch' && !network.cluster)
      throw misused(
        `${network.network} has no cluster: add --store opensearch and --opensearch-url, or name the config file.`,
      )
    const shown = progress(network.network)
    const done = await services.move(config, network, to, { log, shutdown, progress: shown }).finally(shown.finish)
    if (config.json) return print(JSON.stringify(done))
    print(
      done.store === 'opensearch'
        ? `${done.network}: searches ask the cluster.`
        : `${done.network}: searches ask the file. Leave store and opensearch-url out of its settings from now on. The indices in the cluster remain until you delete them.`,
    )
  },
})
