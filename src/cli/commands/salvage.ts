import { command } from '../command.ts'
import { count, showRanges } from '../show.ts'

export const salvage = command({
  name: 'salvage',
  usage: 'T/B/N',
  summary: 'Makes a new store from the undamaged parts of a damaged one, and names the lost blocks.',
  settings: [],
  options: {},
  audited: true,
  arity: [1, 1],
  run: async ({ services, config, args: [network], log, shutdown, print }) => {
    const done = await services.salvage(config, network!, { log, shutdown })
    if (config.json) return print(JSON.stringify(done))
    print(`${done.network}: ${showRanges(done.held)}`)
    print(`Lost: ${showRanges(done.lost)}`)
    if (done.lostAlerts > 0) print(`Lost: ${count(done.lostAlerts, 'alert')}`)
    print(`The damaged file is ${done.aside}. The next chainsieve serve or index indexes the lost blocks again.`)
  },
})
