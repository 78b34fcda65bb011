package main

// clients are clients that misbehave: what they do is no single statement.
var clients = []statement{}
