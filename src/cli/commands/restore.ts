import { resolve } from 'node:path'
import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command } from '../command.ts'
import { showRanges } from '../show.ts'

export const restore = command({
  name: 'restore',
  usage: 'DIR',
  summary: 'Makes the data folder of a backup, once all of the backup is found to be whole.',
  settings: [],
  options: {
    force: setting(toggle, 'false', 'Moves what the data folder holds to a folder in it.'),
    check: setting(toggle, 'false', 'Only tells whether the backup is whole.'),
  },
  arity: [1, 1],
  run: async ({ services, config, options, args: [backup], cwd, log, shutdown, progress, print }) => {
    const done = await services.restore(config, resolve(cwd, backup!), options, { log, shutdown, progress })
    if (config.json) return print(JSON.stringify(done))
    if (options.check) return print(`The backup of ${done.takenAt} is whole.`)
    print(`Restored the backup of ${done.takenAt} to ${config.data}.`)
    for (const { network, ranges } of done.networks) print(`${network}: ${showRanges(ranges)}`)
    if (done.aside) print(`What was there before is in ${done.aside}.`)
  },
})
