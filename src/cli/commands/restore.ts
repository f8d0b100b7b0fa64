import { resolve } from 'node:path'
import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command } from '../command.ts'
import { showRanges } from '../show.ts'

export const restore = command({
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
  run: async ({ services, config, options, args: [backup], cwd, log, shutdown, progress, print }) => {
    const done = await services.restore(config, resolve(cwd, backup!), options, { log, shutdown, progress })
    if (config.json) return print(JSON.stringify(done))
    if (options.check) return print(`The backup of ${done.takenAt} is complete and undamaged.`)
    print(`Restored the backup of ${done.takenAt} to ${config.data}.`)
    for (const { network, ranges } of done.networks)
      print(`${network}: ${ranges ? showRanges(ranges) : 'of an older version, which chainsieve serve upgrades'}`)
    if (done.aside) print(`The previous content is in ${done.aside}.`)
  },
})
