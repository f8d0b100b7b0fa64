module chainsieve/olivere

go 1.21

require github.com/olivere/elastic/v7 v7.0.32
