import { command } from '../command.ts'
import { showBytes } from '../show.ts'

export const compact = command({
  name: 'compact',
  usage: '[T/B/N]',
  summary: 'Returns the free space inside the files to the disk. No server may use the data folder meanwhile.',
  settings: [],
  options: {},
  audited: true,
  arity: [0, 1],
  run: async ({ services, config, args: [network], log, shutdown, print }) => {
    const done = await services.compact(config, network, { log, shutdown })
    if (config.json) return print(JSON.stringify(done))
    for (const { file, before, after } of done) print(`${file}: ${showBytes(before)}, now ${showBytes(after)}`)
  },
})
