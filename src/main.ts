console.log('chainsieve')
