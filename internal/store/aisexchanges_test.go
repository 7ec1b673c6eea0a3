package store

// An AIStore cannot be run here. These exchanges were written from its documentation
// (docs/http_api.md) and from its public source (api/apc/headers.go, api/apc/lsmsg.go,
// cmn/objlist.go, api/client.go), and were not captured from a cluster: they show that we
// hold to what is written there, no more.
//
// The key is what is asked: method, URI, Range, and the body of a list.
var aisExchanges = map[string]string{
	"HEAD /v1/objects/train/a.tar?provider=ais": `HTTP/1.1 200 OK
Content-Length: 10
Ais-Checksum-Type: xxhash
Ais-Checksum-Value: AD2F6A1B0C4D5E6F
Ais-Version: 3
Ais-Atime: 1700000000000000000

`,
	"GET /v1/objects/train/a.tar?provider=ais": `HTTP/1.1 200 OK
Content-Length: 10
Ais-Checksum-Type: xxhash
Ais-Checksum-Value: ad2f6a1b0c4d5e6f
Ais-Version: 3

0123456789`,
	"GET /v1/objects/train/a.tar?provider=ais bytes=3-6": `HTTP/1.1 206 Partial Content
Content-Length: 4
Content-Range: bytes 3-6/10
Ais-Checksum-Type: xxhash
Ais-Checksum-Value: 0000000000000000
Ais-Version: 3

3456`,
	"GET /v1/objects/train/a.tar?provider=ais bytes=7-": `HTTP/1.1 206 Partial Content
Content-Length: 3
Content-Range: bytes 7-9/10
Ais-Version: 4

789`,
	"HEAD /v1/objects/train/dir/a%20b%23%3F%2B%25%C3%A9.tar?provider=ais": "HTTP/1.1 200 OK\nContent-Length: 1\n\n",
	"HEAD /v1/objects/train/a.tar?provider=aws":                           "HTTP/1.1 200 OK\nContent-Length: 2\nAis-Checksum-Type: sha256\nAis-Checksum-Value: " + "aa\n\n",
	"HEAD /v1/objects/train/a.tar?provider=gcp":                           "HTTP/1.1 200 OK\nContent-Length: 3\nAis-Checksum-Type: md5\nAis-Checksum-Value: 900150983cd24fb0d6963f7d28e17f72\n\n",
	"HEAD /v1/objects/train/nowhere?provider=ais": `HTTP/1.1 404 Not Found
Hdr-Error: {"tcode":"","message":"ais://train/nowhere does not exist","method":"HEAD","url_path":"/v1/objects/train/nowhere","remote_addr":"10.0.0.1:1","caller":"","node":"t[abc]","status":404}

`,
	"GET /v1/objects/train/nowhere?provider=ais": `HTTP/1.1 404 Not Found
Content-Type: application/json
Content-Length: 75

{"message":"ais://train/nowhere does not exist","method":"GET","status":404}`,
	"HEAD /v1/objects/train/busy?provider=ais":   "HTTP/1.1 503 Service Unavailable\nRetry-After: 3\n\n",
	"HEAD /v1/objects/train/closed?provider=ais": "HTTP/1.1 401 Unauthorized\nHdr-Error: token required\n\n",
	"HEAD /v1/objects/train/web?provider=ais":    "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 9\n\n",
	`GET /v1/buckets/train?provider=ais {"action":"list","value":{"uuid":"","props":"name,size,version,checksum,custom","prefix":"part-","continuation_token":"","pagesize":0}}`: `HTTP/1.1 200 OK
Content-Type: application/json

{"uuid":"x1","continuation_token":"part-1","entries":[{"name":"part-0","size":"5","version":"1","flags":64},{"name":"part-1","size":"6","version":"2","checksum":"AD2F6A1B0C4D5E6F","custom-md":"[source:aws ETag:e1 LastModified:2025-07-01T10:00:00Z md5:m1 note:a b]","flags":64}],"flags":0}`,
	`GET /v1/buckets/train?provider=ais {"action":"list","value":{"uuid":"x1","props":"name,size,version,checksum,custom","prefix":"part-","continuation_token":"part-1","pagesize":0}}`: `HTTP/1.1 200 OK
Content-Type: application/json

{"uuid":"x1","continuation_token":"","entries":[{"name":"part-2/","flags":256},{"name":"part-3"}],"flags":0}`,
	`GET /v1/buckets/train?provider=ais {"action":"list","value":{"uuid":"","props":"name,size,version,checksum,custom","prefix":"none-","continuation_token":"","pagesize":0}}`: `HTTP/1.1 200 OK
Content-Type: application/json

{"uuid":"x2","continuation_token":"","entries":null,"flags":0}`,
	`GET /v1/buckets/nowhere?provider=ais {"action":"list","value":{"uuid":"","props":"name,size,version,checksum,custom","prefix":"","continuation_token":"","pagesize":0}}`: `HTTP/1.1 404 Not Found
Content-Type: application/json

{"message":"bucket \"ais://nowhere\" does not exist","method":"GET","status":404}`,
}
