import { command, networkOf } from '../command.ts'
import { endOf } from '../ending.ts'
import { CLUSTER } from '../setting-lists.ts'
import { showSummary } from '../show.ts'

export const importPacks = command({
  name: 'import',
  usage: '--network T/B/N FILE|FOLDER…',
  summary:
    'Imports block packs (NDJSON, plain or .gz, with one {"chainId","block","receipts"} per line), era1 files, and folders of Parquet files that cryo wrote.',
  settings: ['network', 'storeBatch', ...CLUSTER, 'indexers', 'limit'],
  options: {},
  audited: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: async ({ services, config, args, log, shutdown, progress, print }) => {
    const { network } = networkOf(config)
    const shown = progress(network)
    const run = { log, shutdown, progress: shown }
    const summary = await services.importPacks(config, network, args, run).finally(shown.finish)
    print(showSummary(network, summary, config.json))
    return endOf(summary, { shutdown, log })
  },
})
