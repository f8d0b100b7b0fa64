import { resolve } from 'node:path'
import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command } from '../command.ts'
import { showBytes } from '../show.ts'

export const backup = command({
  name: 'backup',
  usage: 'DIR',
  summary:
    'Copies all stored data to a folder, also beside a running server. Into an existing backup, writes only what has changed.',
  settings: [],
  options: { full: setting(toggle, 'false', 'Copies everything, whether or not it has changed.') },
  audited: true,
  arity: [1, 1],
  run: async ({ services, config, options, args: [folder], cwd, log, shutdown, progress, print }) => {
    const done = await services.backup(config, resolve(cwd, folder!), options.full, { log, shutdown, progress })
    if (config.json) return print(JSON.stringify(done))
    const files = done.databases.length + done.files
    print(`Backed up ${files} files of ${showBytes(done.bytes)}, of which ${showBytes(done.written)} were written.`)
  },
})
