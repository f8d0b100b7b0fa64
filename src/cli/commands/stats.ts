import { command } from '../command.ts'
import type { StoreStats } from '../services.ts'
import { showBytes, showRanges, showTable } from '../show.ts'

export const stats = command({
  name: 'stats',
  usage: '[T/B/N]',
  summary: 'Shows the size of documents, index, alerts and dictionaries. Reads every page.',
  settings: [],
  options: {},
  arity: [0, 1],
  run: async ({ services, config, args: [network], print }) => {
    const found = await services.stats(config, network)
    if (config.json) return print(JSON.stringify(found))
    if (found.length === 0) return print('Nothing is stored.')
    for (const one of found) print(show(one))
  },
})

const show = ({ network, store, bytes, log, free, ranges, parts }: StoreStats): string =>
  [
    `${network}: ${showBytes(bytes)}, of which ${showBytes(free)} are free; write-ahead log ${showBytes(log)}`,
    `blocks: ${showRanges(ranges)}`,
    ...(store === 'opensearch' ? ['documents: searched in a cluster, whose sizes the cluster tells'] : []),
    showTable(
      ['PART', 'WHAT', 'BYTES', 'SHARE', 'ROWS'],
      parts.map(({ part, what, bytes: size, share, rows }) => [
        part,
        what,
        showBytes(size),
        `${share.toFixed(1)} %`,
        rows === null ? '-' : rows.toLocaleString('en'),
      ]),
    ),
  ].join('\n')
