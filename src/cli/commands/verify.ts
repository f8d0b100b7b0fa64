import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, misused } from '../command.ts'
import type { Verified } from '../services.ts'
import { showText } from '../show.ts'

export const verify = command({
  name: 'verify',
  usage: '[T/B/N]',
  summary: 'Reads all stored data and checks it for damage. Exits with 1 if there is any.',
  settings: [],
  options: {
    deep: setting(
      toggle,
      'false',
      'Also reads every record and every part of the index, and runs the integrity check of SQLite.',
    ),
  },
  arity: [0, 1],
  run: async ({ services, config, options, args: [network], log, shutdown, progress, print }) => {
    if (network !== undefined && network.split('/').length !== 3) throw misused(`${network} is no T/B/N.`)
    const verified = await services.verify(config, network, options.deep, { log, shutdown, progress })
    if (config.json) print(JSON.stringify(verified))
    else if (verified.length === 0) print('Nothing is stored.')
    else for (const one of verified) print(`${one.file}: ${showVerified(one)}`)
    return verified.some(({ faults }) => faults.length > 0) ? 1 : 0
  },
})

const showVerified = ({ faults, unchecked, unread }: Verified): string => {
  if (unread !== undefined)
    return `${unchecked ? 'was not checked' : 'has the pages that were written, whose content was not checked'}: ${showText(unread, 400)}.`
  if (unchecked) return 'has no checksums yet. They are made when a server or an import writes to it next.'
  if (faults.length === 0) return 'is as it was written.'
  return `is damaged. ${faults.map(fault => `${showText(fault, 400)}.`).join(' ')} ${REMEDY}`
}

const REMEDY =
  'Check the disk, move away the file and those whose names begin like it, and restore a backup or index again.'
