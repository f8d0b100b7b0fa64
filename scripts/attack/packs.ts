import type { Attack } from './attack.ts'
export const packs: Attack = { name: 'packs', is: 'floods', run: async () => ({ tries: 0, findings: [], worstMs: 0 }) }
